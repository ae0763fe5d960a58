"""Networks on disk."""

from functools import partial

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from papers.ma2019.cnn import CNN
from rote import RGS
from rote.errors import ModelError
from rote.space.losses import Hamming
from rote.torch import BiLSTMTagger, Training
from tests.torch.small import LABELS, bars, sentences, vectors

SHORT = Training(epochs=1, batch=4)
tiny = partial(BiLSTMTagger, LABELS, words=4, hidden=4, training=SHORT)


def no_rules(builder, tokens):
    """A rule that is none."""


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "tagger.safetensors"
    tiny().fit(*sentences(4)).save(path)
    return path


def rewritten(path, change, **metadata):
    """The file with other arrays and metadata."""
    with safe_open(path, framework="pt") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        before = file.metadata()
    change(arrays)
    save_file(arrays, path, {**before, **metadata})


@pytest.mark.parametrize(
    ("scorer", "data"),
    [
        (tiny(), sentences(5)),
        (tiny(learns_by="tokens", characters=3, lower=True, layers=2), sentences(5)),
        (tiny(order=2, loss=Hamming({"N": 2.0}), engine=RGS(restarts=3)), vectors(5)),
        (CNN(("-", "|"), shape=(4, 6), channels=2, hidden=4, training=SHORT), bars(5)),
    ],
    ids=["words", "characters", "vectors", "images"],
)
def test_what_is_loaded_does_what_was_saved(tmp_path, scorer, data):
    xs, ys = data
    before = scorer.fit(xs, ys)
    before.save(tmp_path / "network")
    after = type(scorer).load(tmp_path / "network")
    assert after.predict(xs) == before.predict(xs)
    for x in xs:
        own, found = before.log_probabilities(x), after.log_probabilities(x)
        assert [row.tolist() for row in own] == [row.tolist() for row in found]
    assert repr(after) == repr(before)  # all settings
    assert not after.fitted.network.training


def test_a_function_is_given_again(tmp_path):
    xs, ys = sentences(5)
    path = tmp_path / "network"
    before = tiny(rules=no_rules).fit(xs, ys)
    before.save(path)
    with pytest.raises(ModelError, match="cannot hold rules; give it"):
        BiLSTMTagger.load(path)
    after = BiLSTMTagger.load(path, rules=no_rules, engine=RGS(restarts=2))
    assert after.rules is no_rules
    assert after.engine == RGS(restarts=2)


def test_settings_given_again_are_checked(saved):
    with pytest.raises(ModelError, match="colour"):
        BiLSTMTagger.load(saved, colour="red")
    with pytest.raises(ModelError, match="dropout"):
        BiLSTMTagger.load(saved, dropout=2.0)
    with pytest.raises(ModelError, match="do not fit"):
        BiLSTMTagger.load(saved, hidden=5)


def test_a_network_of_another_kind_is_refused(saved):
    with pytest.raises(ModelError, match="expected a CNN, got BiLSTMTagger"):
        CNN.load(saved)


def test_only_what_is_trained_can_be_saved(tmp_path):
    with pytest.raises(ModelError, match="not trained"):
        tiny().save(tmp_path / "network")
    scorer = tiny().fit(*sentences(4))
    with torch.no_grad():
        scorer.fitted.network.linear.bias[0] = torch.nan
    with pytest.raises(ModelError, match=r"not finite, in linear\.bias"):
        scorer.save(tmp_path / "network")
    assert list(tmp_path.iterdir()) == []


def test_a_changed_weight_or_setting_is_noticed(saved):
    with safe_open(saved, framework="pt") as file:
        about = file.metadata()["about"].replace('["D", "N", "V"]', '["V", "N", "D"]')
    rewritten(saved, lambda arrays: arrays["linear.bias"].add_(1.0))
    with pytest.raises(ModelError, match="digest"):
        BiLSTMTagger.load(saved)
    rewritten(saved, lambda arrays: arrays["linear.bias"].sub_(1.0), about=about)
    with pytest.raises(ModelError, match="digest"):
        BiLSTMTagger.load(saved)


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"format": "rote state"}, "is no rote network"),
        ({"version": "2"}, "install a newer rote"),
        ({"version": "x"}, "version"),
    ],
    ids=["foreign", "newer", "none"],
)
def test_other_files_are_refused(saved, metadata, words):
    rewritten(saved, lambda arrays: None, **metadata)
    with pytest.raises(ModelError, match=words):
        BiLSTMTagger.load(saved)


@pytest.mark.parametrize("about", ["", "[]", "{}", '{"network": {"left_out": []}}'], ids=str)
def test_a_file_that_says_too_little_is_refused(saved, about, monkeypatch):
    monkeypatch.setattr("rote.torch.files._digest", lambda *_: "same")
    rewritten(saved, lambda arrays: None, about=about, sha256="same")
    with pytest.raises(ModelError, match="not a whole network"):
        BiLSTMTagger.load(saved)


def test_damaged_and_missing_files_are_refused(saved, tmp_path):
    saved.write_bytes(saved.read_bytes()[:-10])
    with pytest.raises(ModelError, match="is no safetensors file, or was cut off"):
        BiLSTMTagger.load(saved)
    with pytest.raises(ModelError, match="no such file"):
        BiLSTMTagger.load(tmp_path / "nothing")
    with pytest.raises(ModelError):
        BiLSTMTagger.load(tmp_path)
    with pytest.raises(ModelError, match="cannot be written"):
        tiny().fit(*sentences(4)).save(tmp_path / "no" / "folder")
