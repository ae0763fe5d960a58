"""What all networks share, seen on the two there are."""

import numpy as np
import pytest
import torch

from papers.ma2019.cnn import CNN
from rote.errors import DataError, LabelError, ModelError, SettingError
from rote.torch import BiLSTMTagger, Training
from rote.torch.scorer import batches, cross_entropy
from tests.torch.small import LABELS, accuracy, sentences, vectors

TINY = {"words": 8, "hidden": 8}


def tagger(epochs=2, **options):
    training = Training(epochs=epochs, **options.pop("training", {}))
    return BiLSTMTagger(LABELS, **TINY, **options, training=training)


def weights(scorer):
    return {name: w.tolist() for name, w in scorer.fitted.network.state_dict().items()}


@pytest.mark.parametrize("learns_by", ["hinge", "tokens"])
def test_the_seed_says_everything(learns_by):
    xs, ys = sentences(12)
    first = tagger(learns_by=learns_by).fit(xs, ys)
    torch.manual_seed(99)
    again = tagger(learns_by=learns_by).fit(xs, ys)
    other = tagger(learns_by=learns_by, training={"seed": 1}).fit(xs, ys)
    assert weights(first) == weights(again)
    assert weights(first) != weights(other)


def test_the_stream_of_random_numbers_is_left_as_it_was():
    xs, ys = sentences(4)
    torch.manual_seed(5)
    wanted = torch.rand(3).tolist()
    torch.manual_seed(5)
    tagger().fit(xs, ys)
    assert torch.rand(3).tolist() == wanted


def test_the_scorer_that_was_asked_to_fit_stays_as_it_was():
    xs, ys = sentences(4)
    before = tagger()
    after = before.fit(xs, ys)
    assert before.fitted is None
    assert after.fitted is not None
    with pytest.raises(ModelError, match="go on with what its fit returns"):
        before.predict(xs)


def test_every_epoch_is_watched_and_the_loss_falls():
    xs, ys = sentences(30)
    seen = []
    tagger(epochs=6).fit(xs, ys, watch=seen.append)
    assert [epoch.number for epoch in seen] == [1, 2, 3, 4, 5, 6]
    assert seen[-1].loss < seen[0].loss
    assert all(epoch.accuracy is None and epoch.best for epoch in seen)


def test_training_stops_early_and_keeps_the_best_epoch():
    xs, ys = sentences(20)
    held_out, seen = sentences(10, seed=1), []
    settings = {"patience": 2, "rate": 0.05}
    best = tagger(epochs=60, training=settings).fit(xs, ys, validation=held_out, watch=seen.append)
    top = max(epoch.accuracy for epoch in seen)
    first = next(epoch.number for epoch in seen if epoch.accuracy == top)
    assert len(seen) == first + 2 < 60
    assert [epoch.number for epoch in seen if epoch.best][-1] == first
    assert accuracy(best.predict(held_out[0]), held_out[1]) == top
    alone = tagger(epochs=first, training=settings).fit(xs, ys)
    assert weights(alone) == weights(best)


def test_batches_hold_one_length_each_and_every_member_once():
    lengths = [3, 1, 3, 0, 2, 3, 1, 3]
    for rng in (None, np.random.default_rng(0)):
        found = batches(lengths, 2, rng)
        assert all(len({lengths[k] for k in batch}) == 1 and len(batch) <= 2 for batch in found)
        assert sorted(k for batch in found for k in batch) == [0, 1, 2, 4, 5, 6, 7]


def test_log_probabilities_add_up_to_one_and_do_not_hang_on_the_batch():
    xs, ys = vectors(20)
    scorer = tagger().fit(xs, ys)
    together = scorer.log_probabilities_of([*xs, np.zeros((0, 4))])
    assert together[-1] == []
    for x, rows in zip(xs, together, strict=False):
        assert len(rows) == len(x)
        np.testing.assert_allclose(np.exp(rows).sum(axis=1), 1.0)
        np.testing.assert_allclose(rows, scorer.log_probabilities(x), atol=1e-6)


def test_an_input_without_tokens_has_an_empty_output():
    xs, ys = sentences(6)
    scorer = tagger().fit([*xs, []], [*ys, ()])
    assert scorer.predict([[], xs[0]])[0] == ()
    assert len(scorer.predict([[], xs[0]])[1]) == len(xs[0])
    assert scorer.predict([]) == []
    assert scorer.log_probabilities([]) == []


def test_cross_entropy_is_that_of_the_formula():
    scores = torch.tensor([[[1.0, 2.0], [0.0, 0.0]]])
    wanted = (np.log1p(np.e) + np.log(2)) / 2
    assert cross_entropy(scores, np.array([[0, 1]])).item() == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("xs", "ys", "error", "words"),
    [
        ([["a"]], [], DataError, "input 0 has no output"),
        ([["a"]], [("N", "N")], LabelError, "example 0: .* got 2 for 1 tokens"),
        ([["a"]], [("X",)], LabelError, "example 0: 'X' is not a label"),
        ([], [], DataError, "nothing to learn"),
        ([[]], [()], DataError, "nothing to learn"),
        ([["a"], [("a", "b")]], [("N",), ("N",)], DataError, "1 texts"),
        ([np.zeros((1, 2)), np.zeros((1, 3))], [("N",), ("N",)], DataError, "got \\(1, 3\\)"),
    ],
    ids=range(7),
)
def test_examples_that_do_not_fit_are_answered_by_a_sentence(xs, ys, error, words):
    with pytest.raises(error, match=words):
        tagger().fit(xs, ys)


def test_steps_that_leave_the_numbers_are_noticed(monkeypatch):
    monkeypatch.setattr(BiLSTMTagger, "loss_of", lambda _, network, scores, gold: scores.sum() / 0)
    with pytest.raises(ModelError, match="take a smaller rate"):
        tagger().fit(*vectors(4))


@pytest.mark.parametrize(
    "wrong",
    [{"epochs": 0}, {"batch": 0}, {"rate": 0.0}, {"decay": -1.0}, {"clip": 0}, {"patience": 0}],
    ids=str,
)
def test_settings_of_training_are_checked(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        Training(**wrong)


@pytest.mark.parametrize("kind", [BiLSTMTagger, CNN])
@pytest.mark.parametrize("labels", [("a",), ("a", "a"), (), {"a", "b"}, "ab"])
def test_labels_are_two_or_more_in_an_order(kind, labels):
    with pytest.raises(SettingError, match=r"two or more|labels is a list"):
        kind(labels)
