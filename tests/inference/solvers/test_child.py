"""Messages between processes, and what a process makes of a question."""

import numpy as np
import pytest

from rote.inference.solvers import child


def test_messages_come_back_as_they_were_sent(tmp_path):
    path = tmp_path / "message"
    arrays = {"a": np.arange(6).reshape(2, 3), "b": np.zeros((0, 2)), "c": np.array(True)}
    with path.open("wb") as stream:
        child.write(stream, {"text": "ä", "number": 1 << 61}, arrays)
    with path.open("rb") as stream:
        header, found = child.read(stream)
        with pytest.raises(EOFError):
            child.read(stream)
    assert header == {"text": "ä", "number": 1 << 61}
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].tolist() == array.tolist()


def test_a_message_with_objects_is_refused(tmp_path):
    path = tmp_path / "message"
    text = b'{"arrays": [["a", "|O", [1]]]}'
    path.write_bytes(child.LENGTH.pack(len(text)) + text + b"12345678")
    with path.open("rb") as stream, pytest.raises(ValueError, match="arrays hold numbers"):
        child.read(stream)
