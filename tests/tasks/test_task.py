"""Frames and slots."""

import numpy as np
import pytest

from papers.samdani2012.fields import Fields
from rote import EntityRelation, GraphLabelling, Multiclass, MultiLabel, Tagging, Templates
from rote.errors import SettingError, SpaceError
from rote.space import SpaceBuilder
from rote.space.global_features import LabelCounts, Tuples
from rote.tasks.external_scores import ExternalScores
from rote.tasks.task import Frame, Slot


def space():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "abc"), builder.variable("y", "ab")
    builder.factor(y, x)
    return builder.build()


def test_a_frame_knows_where_the_parts_of_its_slots_begin():
    frame = Frame(space(), (Slot("one", 0), Slot("two", 1), Slot("pair")), ("k", "k"))
    assert frame.starts.tolist() == [0, 3, 5, 11]
    assert frame.widths.tolist() == [3, 2, 6]


def test_a_slot_with_a_vector_per_label_uses_one_column():
    frame = Frame(space(), (Slot("one", 1, each=True), Slot("two", 0), Slot("pair")), ("k",) * 4)
    assert frame.starts.tolist() == [0, 3, 5, 11]
    assert frame.widths.tolist() == [1, 2, 6]


def test_tied_label_tuples_share_columns():
    tied = (0, 1, 1, 1, 0, 1)  # y is a or b, x is a, b or c
    slots = Slot("one", 0), Slot("two", 0), Slot("same", 0, tied=tied)
    frame = Frame(space(), slots, ("k",))
    assert frame.widths.tolist() == [3, 2, 2]
    assert frame.needed[2] == ("same", "k", 2, None)


def test_frames_are_equal_when_all_they_hold_is():
    slots = Slot("one", 0), Slot("two", 1), Slot("pair")
    one, other = (Frame(space(), slots, ("k", "k")) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != Frame(space(), slots, ("k", "l"))
    assert one != Frame(space(), (Slot("one", 1), *slots[1:]), ("k", "k"))


@pytest.mark.parametrize(
    ("slots", "kinds", "says"),
    [
        ((Slot("one"), Slot("two")), (), "3 in all; got 2"),
        ((Slot("one"), Slot("two"), Slot("pair"), Slot("more")), (), "3 in all; got 4"),
        ((Slot("one", 2), Slot("two"), Slot("pair")), ("k",) * 2, "'one' looks at vector 2"),
        ((Slot("one", 0), Slot("two"), Slot("pair")), (), "one kind per vector, and there are 0"),
        ((Slot("one", 0), Slot("two"), Slot("pair")), "event", r"write \('event',\)"),
        (("one", "two", "pair"), (), r"slots are such as Slot\('block', 0\); got 'one'"),
        ((Slot("one", -1), Slot("two"), Slot("pair")), ("k",) * 2, "'one' looks at"),
        ((Slot("one", 0, True), Slot("two"), Slot("pair")), ("k",) * 2, "looks at vector 2"),
        ((Slot("one", 0, True), Slot("two"), Slot("pair")), ("k", "k", "l"), "several kinds"),
        ((Slot("one", None, True), Slot("two"), Slot("pair")), ("k",), "each, but no vector"),
        ((Slot("one", tied=(0, 1, 1)), Slot("two"), Slot("pair")), (), "not that of a factor"),
        ((Slot("one"), Slot("two"), Slot("pair", tied=(0, 1))), (), "each of 6 label tuples"),
        ((Slot("one"), Slot("two"), Slot("pair", tied=(0, 2) * 3)), (), "which of the columns"),
    ],
    ids=range(13),
)
def test_slots_that_do_not_fit_the_space_are_refused(slots, kinds, says):
    with pytest.raises(SpaceError, match=says):
        Frame(space(), slots, kinds)


def test_global_features_have_to_fit_the_space():
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    builder.variable("y", "abc")
    space, slots = builder.build(), (Slot("x"), Slot("y"))
    assert (
        Frame(space, slots, (), (Tuples("both", ((0, 1),), (2, 3)),)).global_feature_set is not None
    )
    with pytest.raises(SpaceError, match=r"over the variables \(1, 0\)"):
        Frame(space, slots, (), (Tuples("both", ((1, 0),), (2, 3)),))
    with pytest.raises(SpaceError, match=r"over the variables \(0, 2\)"):
        Frame(space, slots, (), (Tuples("both", ((0, 2),), (2, 3)),))
    with pytest.raises(SpaceError, match="not all variables of the space have as many"):
        Frame(space, slots, (), (LabelCounts("shares", 2, 3),))


WORDS = Templates(("word",), ("word[0]",))
TAKE_A_LIST = {
    "Tagging": ("labels", lambda given: Tagging(given, WORDS)),
    "Multiclass": ("labels", Multiclass),
    "MultiLabel": ("labels", MultiLabel),
    "GraphLabelling": ("labels", GraphLabelling),
    "Fields": ("labels", lambda given: Fields(given, len, len)),
    "entities": ("entity_labels", lambda given: EntityRelation(given, ("none",), {})),
    "relations": ("relation_labels", lambda given: EntityRelation(("a",), given, {})),
    "ExternalScores": ("classes", lambda given: ExternalScores(given, np.zeros((1, 2)))),
    "columns": ("columns", lambda given: Templates(given, ("a[0]",))),
    "templates": ("templates", lambda given: Templates(("a", "b"), given)),
}


@pytest.mark.parametrize("what", TAKE_A_LIST)
def test_a_set_is_refused_where_the_order_counts(what):
    name, make = TAKE_A_LIST[what]
    values = ("a[0]", "b[0]") if what == "templates" else ("a", "b")
    for given in (set(values), frozenset(values), dict.fromkeys(values).keys()):
        with pytest.raises(SettingError, match=rf"{name} is a list, .*say .*sorted"):
            make(given)
    with pytest.raises(SettingError, match=f"{name} is a list.* got 3"):
        make(3)
    assert getattr(make(iter(values)), name) == values
    assert getattr(make(list(values)), name) == values
