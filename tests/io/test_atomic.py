"""A file is written whole or left as it was; links, pipes and folders stay what they are."""

import os
import threading

import pytest

from rote.io import atomic
from rote.io.atomic import write_new, write_whole


@pytest.mark.parametrize("content", [b"new", [b"ne", b"w"], iter([b"n", b"ew"])])
def test_bytes_are_written_at_once_or_in_pieces(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(b"old and long")
    write_whole(path, content)
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_written_whole_or_left_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, b"old")

    def fail(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic.os, "fsync", fail)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, b"new and long")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_link_leads_to_is_written_and_the_link_stays(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    came = []
    reader = threading.Thread(target=lambda: came.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, [b"a", b"b"])
    reader.join()
    assert came == [b"ab"]
    assert pipe.is_fifo()


def test_a_folder_and_a_place_that_is_not_there_are_errors_of_the_system(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "file"):
        with pytest.raises(OSError, match="directory"):
            write_whole(path, b"")
    assert list(tmp_path.iterdir()) == []


def test_a_new_file_does_not_replace_one(tmp_path):
    write_new(tmp_path / "file", b"old")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
