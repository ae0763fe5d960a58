"""States on disk: back bit for bit, enough to go on from, or refused with a sentence."""

import json
import os

import numpy as np
import pytest
from safetensors.numpy import save as packed

from rote.errors import ModelError
from rote.learning import State
from rote.learning import checkpoints as checkpoints_module
from rote.learning.checkpoints import load_state, save_state

STATE = State(
    7,
    np.array([0.5, -0.0, 1e-300]),
    False,
    {"mistakes": 3, "gap": np.float64("nan"), "primal": float("inf"), "rate": 0.1},
    {
        "sums": np.arange(6.0).reshape(2, 3).T,
        "seen": np.array(4),
        "none": np.zeros((0, 2), dtype=np.int64),
        "flags": np.array([True, False]),
    },
)


def same(ours, theirs):
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    assert ours.tobytes() == theirs.tobytes()


def test_a_state_comes_back_bit_for_bit(tmp_path):
    save_state(STATE, tmp_path / "state")
    back = load_state(tmp_path / "state")
    assert (back.iteration, back.done) == (7, False)
    same(back.weights, STATE.weights)
    assert back.memory.keys() == STATE.memory.keys()
    for name, array in STATE.memory.items():
        same(back.memory[name], array)
    assert back.measures["mistakes"] == 3
    assert np.isnan(back.measures["gap"])
    assert back.measures["primal"] == float("inf")
    assert back.measures["rate"] == 0.1


def test_the_run_is_compared_where_it_is_given(tmp_path):
    path = tmp_path / "state"
    save_state(STATE, path, {"learner": "Local()", "examples": "12"})
    assert load_state(path).iteration == 7
    assert load_state(path, {"examples": "12"}).iteration == 7
    with pytest.raises(ModelError, match="the examples are others; go on with the same"):
        load_state(path, {"learner": "Local()", "examples": "13"})
    with pytest.raises(ModelError, match=r"the C of the learner was not said; name another$"):
        load_state(path, {"learner.C": "2.0"}, "name another")
    with pytest.raises(ModelError, match="the learner is another now"):
        load_state(path, {"learner": "L" * 100})


def test_a_file_that_is_not_there_or_cannot_be_written_is_a_model_error(tmp_path):
    with pytest.raises(ModelError, match="nowhere: there is no such file"):
        load_state(tmp_path / "nowhere")
    with pytest.raises(ModelError, match="cannot be written"):
        save_state(STATE, tmp_path / "no" / "folder" / "state")
    with pytest.raises(ModelError, match="tests"):
        load_state(_folder(tmp_path / "tests"))


def _folder(path):
    path.mkdir()
    return path


def test_every_damaged_byte_and_every_cut_is_noticed(tmp_path):
    path = tmp_path / "state"
    save_state(STATE, path)
    content = path.read_bytes()
    for place in range(0, len(content), 5):
        broken = bytearray(content)
        broken[place] ^= 0x15
        path.write_bytes(bytes(broken))
        try:
            back = load_state(path)
        except ModelError:
            continue
        # What may change unseen is who wrote it.
        assert b"".join(a.tobytes() for a in back.memory.values()) == b"".join(
            np.asarray(STATE.memory[name]).tobytes() for name in back.memory
        )
        assert back.iteration == STATE.iteration
        same(back.weights, STATE.weights)
    for length in range(0, len(content), 37):
        path.write_bytes(content[:length])
        with pytest.raises(ModelError):
            load_state(path)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"format": "pt"}, "is no rote state; its format is 'pt'"),
        ({"version": "2"}, r"version 2 .*reads up to version 1; install a newer rote"),
        ({"version": "one"}, "the version is a number"),
        ({"state": "{"}, "is not a whole state"),
        ({"state": "[]"}, "is not a whole state"),
        ({"state": '{"iteration": "1", "done": false, "measures": {}}'}, "not said as a number"),
        ({"state": '{"iteration": 1, "measures": {}}'}, "is not a whole state"),
        ({"run": "3"}, "not said as a number"),
    ],
)
def test_a_foreign_or_future_file_is_refused(tmp_path, monkeypatch, change, match):
    about = {"iteration": 1, "done": False, "measures": {}}
    metadata = {"format": "rote state", "version": "1", "rote": "9", "run": "{}"}
    metadata |= {"state": json.dumps(about), **change}
    arrays = {"weights": np.zeros(2)}
    texts = {key: metadata[key] for key in ("state", "run")}
    metadata["sha256"] = checkpoints_module._digest(arrays, texts)
    (tmp_path / "state").write_bytes(packed(arrays, metadata))
    with pytest.raises(ModelError, match=match):
        load_state(tmp_path / "state")


def test_a_write_that_is_cut_short_leaves_the_state_before(tmp_path, monkeypatch):
    path = tmp_path / "state"
    save_state(STATE, path)

    def fail(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ModelError, match="No space left"):
        save_state(State(8, np.zeros(3), True), path)
    monkeypatch.undo()
    assert load_state(path).iteration == 7
    assert list(tmp_path.iterdir()) == [path]
