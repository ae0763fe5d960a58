"""Batches of examples, cut so that their scores fit into memory."""

import numpy as np
import pytest

from rote.features import Templates
from rote.model import prepare
from rote.model.batch import within_memory
from rote.tasks import Tagging

TASK = Tagging(("a", "b"), Templates(("word",), ("word[0]",)))
XS = [[["w"]] * length for length in (1, 2, 2, 3, 1, 2)]


@pytest.mark.parametrize("chunk", [1, 5, 20, 1000])
def test_pieces_hold_every_example_once_and_no_more_scores_than_there_is_room_for(
    monkeypatch, chunk
):
    monkeypatch.setattr("rote.model.batch.CHUNK", chunk)
    prepared = prepare(TASK, XS, [["a"] * len(x) for x in XS])
    every = list(within_memory(prepared.groups))
    found = [member for pieces in every for piece in pieces for member in piece.members.tolist()]
    assert sorted(found) == list(range(len(XS)))
    for pieces in every:
        size = sum(len(piece) * piece.space.parts for piece in pieces)
        assert size <= chunk or (len(pieces) == 1 and len(pieces[0]) == 1)


def test_with_several_jobs_there_is_a_piece_for_each():
    (group,) = prepare(TASK, [[["w"]]] * 10).groups
    assert [len(piece) for piece in group.chunks(n_jobs=4)] == [3, 3, 3, 1]
    assert np.concatenate([piece.firsts for piece in group.chunks(4)]).tolist() == (
        group.firsts.tolist()
    )
