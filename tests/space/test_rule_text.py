"""Rules as text: what they say is what the same rules in Python say, and slips are located."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from rote import RuleError, SettingError, SpaceBuilder, Templates
from rote.space.rule_text import Vocabulary
from rote.tasks.coreference import Coreference, Document, Mention
from rote.tasks.entity_relation import EntityRelation
from rote.tasks.graphs import Graph, GraphLabelling, grid
from rote.tasks.multiclass import Multiclass
from rote.tasks.multilabel import MultiLabel
from rote.tasks.tagging import Tagging

LABELS = ("A", "B", "is not", "O")
WORDS = Vocabulary({"token": (1, LABELS)})


def was_feasible(text, length=3):
    """The outputs that obey a text, as tuples of labels."""
    builder = SpaceBuilder()
    tokens = [builder.variable(str(t), LABELS) for t in range(length)]
    WORDS.require(builder, text, tokens, {"token": {(t,): v for t, v in enumerate(tokens)}})
    space = builder.build()
    every = np.array(list(product(range(len(LABELS)), repeat=length)))
    return {tuple(LABELS[a] for a in row) for row in every[space.holds(every)]}


def every(length=3):
    return set(product(LABELS, repeat=length))


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("token 0 is A", lambda y: y[0] == "A"),
        ("token first is not A\ntoken last is O", lambda y: y[0] != "A" and y[-1] == "O"),
        ("token i is A | O", lambda y: set(y) <= {"A", "O"}),
        ('token i is not "is not" | B', lambda y: not {"is not", "B"} & set(y)),
        (
            "if token i is A then token i+1 is B",
            lambda y: all(b == "B" for a, b in pairwise(y) if a == "A"),
        ),
        (
            "if token i is B then token i-1 is A or token i-1 is B",
            lambda y: all(a in "AB" for a, b in pairwise(y) if b == "B"),
        ),
        (
            "not (token i is A and token j is B)",
            lambda y: not ("A" in y and "B" in y),
        ),
        ("at most 1 token is A", lambda y: y.count("A") <= 1),
        ("at least 2 tokens are A | B", lambda y: y.count("A") + y.count("B") >= 2),
        ("exactly 1 tokens are O", lambda y: y.count("O") == 1),
        (
            "exactly 1 of token 0 is A, token 1 is A, (token 2 is A or token 2 is B)",
            lambda y: (y[0] == "A") + (y[1] == "A") + (y[2] in "AB") == 1,
        ),
        (
            "if token 0 is A then at most 1 token is O and not token 1 is B",
            lambda y: y[0] != "A" or (y.count("O") <= 1 and y[1] != "B"),
        ),
        (
            "token 0 is A or token 0 is B and token 1 is O",
            lambda y: y[0] == "A" or (y[0] == "B" and y[1] == "O"),
        ),
        ("token 5 is A", lambda _: True),
        ("# nothing\n\n   \t\n  # but comments", lambda _: True),
        ("a name, with (signs): token 0 is O  # why", lambda y: y[0] == "O"),
    ],
)
def test_a_text_allows_what_it_says(text, holds):
    assert was_feasible(text) == {y for y in every() if holds(y)}


def test_a_rule_is_called_by_its_name_or_its_text_and_its_numbers():
    builder = SpaceBuilder()
    tokens = [builder.variable(str(t), LABELS) for t in range(2)]
    text = "ends: token last is O\ntoken i is not A # why"
    WORDS.require(builder, text, tokens, {"token": {(t,): v for t, v in enumerate(tokens)}})
    names = [named.name for named in builder.build().rules]
    assert names == ["ends", "token i is not A, i=0", "token i is not A, i=1"]


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [
        ("token i", 8, "'is'; got the end of the line"),
        ("token is A", 7, "a place such as i, i+1, 0, first or last; got 'is'"),
        ("token i + 1 is A", 9, "'is'; got '+'"),
        ('token "i" is A', 7, "a place"),
        ("token i is X", 12, "a label of token: A, B, is not, O; got 'X'"),
        ("token i is is not", 12, "a label of token"),
        ("word i is A", 1, "the name of a variable: token; got 'word'"),
        ("if token i is A", 16, "'then'; got the end of the line"),
        ("token i is A then token i is B", 14, "'and', 'or' or the end of the line; got 'then'"),
        ("at 1 token is A", 4, "'most' or 'least'; got '1'"),
        ("exactly one token is A", 9, "a number; got 'one'"),
        ("at most 1 of", 13, "the name of a variable"),
        ("at most 1 token A", 17, "'is' or 'are'; got 'A'"),
        ("(token i is A", 14, "')'; got the end of the line"),
        ("token i is A)", 13, "'and', 'or' or the end of the line; got ')'"),
        ('token i is "A', 12, "a quote that ends"),
        (r'token i is "\x"', 12, "quotes as in JSON"),
        (": token i is A", 1, "a name before the colon"),
        ("a name:", 8, "the name of a variable"),
        ("prefer by token i is A", 11, "a number of at least 0, such as 0.7; got 'token'"),
        ("prefer by -1 token i is A", 11, "a number of at least 0, such as 0.7; got '-1'"),
        ("prefer", 7, "the name of a variable"),
        ("token i is A and prefer token i is A", 18, "the name of a variable"),
    ],
)
def test_what_cannot_be_read_is_located(line, column, expected):
    with pytest.raises(RuleError) as caught:
        WORDS.check(f"token 0 is A\n{line}\n")
    assert str(caught.value).startswith(f"line 2, column {column}: expected ")
    assert expected in str(caught.value)


def test_a_line_may_be_preferred_by_a_weight_or_one_that_is_learned():
    builder = SpaceBuilder()
    tokens = [builder.variable(str(t), ("A", "B")) for t in range(3)]
    text = "same: prefer by 0.5 if token i is A then token i+1 is A\nprefer by 1e2 token 0 is B\n"
    text += "few: prefer at most 1 token is A\ntoken last is A"
    words = Vocabulary({"token": (1, ("A", "B"))})
    words.require(builder, text, tokens, {"token": {(t,): v for t, v in enumerate(tokens)}})
    space = builder.build()
    weights = [(soft.name, soft.weight) for soft in space.soft]
    line = "prefer by 1e2 token 0 is B"
    assert weights == [("same", 0.5), ("same", 0.5), (line, 100.0), ("few", None)]
    assert [named.name for named in space.required] == ["token last is A"]
    scores = np.zeros(6)
    assert space.value(scores, [[0, 1, 0], [1, 1, 0], [0, 0, 0]]).tolist() == [-100.5, 0, -100]


def test_rules_are_a_text_or_a_function():
    WORDS.check(None)
    WORDS.check(lambda builder, variables: None)
    with pytest.raises(SettingError, match="rules is a text"):
        WORDS.check(["token 0 is A"])


def no_a(builder, variables):
    for variable in variables:
        builder.require(~variable[variable.labels[0]], "not the first label")


TEMPLATES = Templates(("word",), ("word[0]",))


@pytest.mark.parametrize(
    ("make", "x", "text", "count"),
    [
        (lambda r: Tagging(("A", "B"), TEMPLATES, rules=r), [["w"]] * 2, "token i is B", 2),
        (lambda r: Multiclass(("A", "B"), rules=r), [], "label is not A", 1),
        (lambda r: MultiLabel(("A", "B"), rules=r), [], "A and label 1 is on", 1),
        (
            lambda r: GraphLabelling(("A", "B"), rules=r),
            Graph(np.zeros((4, 1)), grid(2, 2)),
            "node i is B",
            4,
        ),
        (
            lambda r: Coreference(rules=r),
            Document("", "", (), (Mention(0, 0, 1, ""),) * 1),
            "at most 0 mentions are new",
            1,
        ),
    ],
)
def test_every_task_takes_a_text_and_a_function(make, x, text, count):
    assert len(make(text).frame(x).space.rules) == count
    variables = make(None).frame(x).space.variables
    assert len(make(no_a).frame(x).space.rules) == len(variables)
    assert make(None).frame(x).space.rules == ()
    with pytest.raises(RuleError, match="line 1, column 1"):
        make("nothing that is there")


def test_two_letters_are_neighbours_in_a_graph_and_any_two_entities_of_a_sentence():
    from rote.io.conll import Entity, Sentence

    path = Graph(np.zeros((3, 1)), np.array([[0, 1], [1, 2]]))
    task = GraphLabelling(("A", "B"), rules="if node i is A then node j is B")
    space = task.frame(path).space
    labels = np.array(list(product(range(2), repeat=3)))
    assert space.holds(labels).tolist() == [
        not ((y[:2] == 0).all() or (y[1:] == 0).all()) for y in labels
    ]
    x = Sentence(0, ("a",) * 3, ("",) * 3, tuple(Entity(k, k + 1, "") for k in range(3)), ())
    ruled = EntityRelation(
        ("P", "L"), ("none", "in"), {}, rules="if relation i j is in then entity j is L"
    )
    plain = EntityRelation(("P", "L"), ("none", "in"), {})
    assert len(ruled.frame(x).space.rules) == len(plain.frame(x).space.rules) + 6
    by_arguments = EntityRelation(("P", "L"), ("none", "in"), {}, rules="at most 1 relation is in")
    assert len(by_arguments.frame(x).space.rules) == len(plain.frame(x).space.rules) + 1


def test_a_label_that_a_variable_does_not_have_is_never_taken():
    document = Document("", "", (), (Mention(0, 0, 1, ""),) * 3)
    task = Coreference(rules='at most 1 mention is "1 back"\nmention i is not "2 back"')
    space = task.frame(document).space
    labels = np.array([[0, 0, 1], [0, 1, 1], [0, 0, 2]])
    assert space.holds(labels).tolist() == [True, False, False]
