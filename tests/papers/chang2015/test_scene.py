"""Scene with amortized inference: what is learned, counted, and called a loss."""

import numpy as np
import pytest

from papers.chang2015.scene import FULL, scene_bench, scenes_of
from rote import Model
from tests.papers.studies import TINY as PLANS

STUDY = "chang2015-scene"
TINY = PLANS[STUDY]


def rows_of(outcome):
    return {(row.metrics["solver"], row.method): row.metrics for row in outcome.rows}


def test_the_loss_is_a_share_of_labels_and_the_same_as_a_number_of_labels():
    scenes = scenes_of(TINY, 0)
    bench = scene_bench(scenes)
    on = np.zeros(bench.model.layout.size)
    model = bench.model.with_weights(on)
    (output,) = {tuple(y) for y in model.predict(list(scenes.X_test))}
    assert output == ()  # without weights all outputs tie, and the first is the empty one
    judged = bench.judge(model)
    assert judged["hamming_loss"] == pytest.approx(scenes.Y_test.mean())
    assert judged["wrong_labels"] == pytest.approx(scenes.Y_test.sum(axis=1).mean())
    assert bench.about["hamming loss of the empty output"] == pytest.approx(scenes.Y_test.mean())


def test_learning_beats_the_empty_output(outcome):
    loss = rows_of(outcome)["Exact", "baseline"]["hamming_loss"]
    assert loss < outcome.settings["hamming loss of the empty output"]


@pytest.mark.usefixtures("real_data")
def test_the_paper_s_loss_cannot_be_a_share_of_labels():
    scenes = scenes_of(FULL, 0)
    assert scenes.source == "scene"
    bench = scene_bench(scenes)
    assert isinstance(bench.model, Model)
    assert bench.about["hamming loss of the empty output"] < 0.2
