"""Where each weight lives."""

import numpy as np
import pytest

from rote.errors import LabelError, SpaceError
from rote.features import CONSTANT, FeatureIndex, Positions
from rote.model import Block, Layout
from rote.space import SpaceBuilder
from rote.tasks.task import Frame, Slot


def frame(slots, sizes=(3, 2), kinds=("word", "word", "shape"), pair=True):
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abcd"[:size]) for j, size in enumerate(sizes)]
    if pair:
        builder.factor(*variables)
    return Frame(builder.build(), tuple(slots), kinds)


INDICES = {CONSTANT: Positions(1), "word": FeatureIndex(["u", "v", "w"]), "shape": Positions(2)}
SLOTS = (Slot("tag", 0), Slot("flag", 1), Slot("pair", None))


def test_kinds_lie_one_after_the_other_and_their_blocks_side_by_side():
    layout = Layout.of([frame(SLOTS)], INDICES)
    assert layout.blocks == (
        Block("tag", "word", 3, ("a", "b", "c")),
        Block("flag", "word", 2, ("a", "b")),
        Block("pair", CONSTANT, 6),
    )
    assert layout.size == 3 * 5 + 6
    weights = np.arange(21.0)
    assert layout.zeros().tolist() == [0.0] * 21
    assert layout.matrix(weights, "word").tolist() == weights[:15].reshape(3, 5).tolist()
    assert layout.block(weights, "tag").tolist() == [[0, 1, 2], [5, 6, 7], [10, 11, 12]]
    assert layout.block(weights, "flag").tolist() == [[3, 4], [8, 9], [13, 14]]
    assert layout.block(weights, "pair").tolist() == [[15, 16, 17, 18, 19, 20]]


def test_what_is_written_into_a_block_is_written_into_the_weights():
    layout = Layout.of([frame(SLOTS)], INDICES)
    weights = layout.zeros()
    layout.block(weights, "flag")[1, 0] = 7.0
    assert np.flatnonzero(weights).tolist() == [8]


def test_weights_of_a_block_or_kind_that_is_not_there_are_refused():
    layout = Layout.of([frame(SLOTS)], INDICES)
    with pytest.raises(SpaceError, match="no block 'tga'; it was trained on flag, pair, tag"):
        layout.block(layout.zeros(), "tga")
    for kind in ("wrd", "shape"):
        with pytest.raises(SpaceError, match=f"of kind '{kind}'; they look at constant, word"):
            layout.matrix(layout.zeros(), kind)


def test_no_two_weights_of_any_blocks_are_the_same():
    slots = (Slot("tag", 0), Slot("look", 2), Slot("pair", 1))
    layout = Layout.of([frame(slots)], INDICES)
    numbers = np.arange(layout.size)
    every = np.concatenate([layout.block(numbers, b.name).ravel() for b in layout.blocks])
    assert sorted(every.tolist()) == numbers.tolist()


def test_slots_say_where_the_weight_of_every_part_is():
    one = frame(SLOTS)
    layout = Layout.of([one], INDICES)
    slots = layout.slots(one)
    assert slots.vector.tolist() == [0, 1, -1]
    assert slots.start.tolist() == [0, 3, 5, 11]
    assert slots.each.tolist() == [False, False, False]
    numbers = np.arange(layout.size)
    for s, slot in enumerate(one.slots):
        block = layout.block(numbers, slot.block)
        for k in range(block.shape[0]):
            for a in range(block.shape[1]):
                assert block[k, a] == slots.origin[s] + k * slots.stride[s] + a


def test_a_block_with_a_vector_per_label_has_one_column_whatever_the_labels():
    wide = frame([Slot("link", 0, each=True)], (3,), ("pair",) * 3, pair=False)
    narrow = frame([Slot("link", 0, each=True)], (2,), ("pair",) * 2, pair=False)
    layout = Layout.of([wide, narrow], {"pair": Positions(4)})
    assert layout.blocks == (Block("link", "pair", 1),)
    assert layout.size == 4
    assert layout.slots(narrow).each.tolist() == [True]
    assert layout.slots(wide).start.tolist() == [0, 3]


def test_frames_share_the_blocks_they_name_alike():
    other = frame([Slot("tag", 1), Slot("flag", 0), Slot("pair", None)])
    assert Layout.of([frame(SLOTS), other], INDICES).size == 21


def one_variable(labels):
    builder = SpaceBuilder()
    builder.variable("x", labels)
    return Frame(builder.build(), (Slot("tag"),))


def test_labels_in_another_order_than_they_were_learned_in_are_refused():
    layout = Layout.of([one_variable("ab")], {CONSTANT: Positions(1)})
    assert layout.slots(one_variable("ab")).start.tolist() == [0, 2]
    with pytest.raises(LabelError, match=r"learned with the labels \('a', 'b'\).*\('b', 'a'\)"):
        layout.slots(one_variable("ba"))


def test_variables_with_labels_of_their_own_can_share_a_block():
    layout = Layout.of([one_variable("ab"), one_variable("cd")], {CONSTANT: Positions(1)})
    assert layout.blocks == (Block("tag", CONSTANT, 2),)
    assert layout.slots(one_variable("ef")).start.tolist() == [0, 2]


def test_no_frames_need_no_weights():
    layout = Layout.of([], {CONSTANT: Positions(1)})
    assert (layout.size, layout.blocks) == (0, ())


def test_a_block_of_two_widths_is_refused():
    with pytest.raises(LabelError, match=r"'tag' has 3 labels.*has 2"):
        Layout.of([frame((Slot("tag", 0), Slot("tag", 1), Slot("pair")))], INDICES)


def test_a_block_over_two_kinds_is_refused():
    slots = (Slot("tag", 0), Slot("tag", 2))
    with pytest.raises(SpaceError, match="'word' and of kind 'shape'"):
        Layout.of([frame(slots, (2, 2), pair=False)], INDICES)


def test_a_frame_with_other_blocks_than_the_model_is_refused():
    layout = Layout.of([frame(SLOTS)], INDICES)
    with pytest.raises(SpaceError, match=r"no block 'new'; it was trained on flag, pair, tag"):
        layout.slots(frame((Slot("new", 0), Slot("flag", 1), Slot("pair"))))
    with pytest.raises(LabelError, match="'flag' has 2 labels"):
        layout.slots(frame((Slot("flag", 0), Slot("flag", 1), Slot("pair"))))
