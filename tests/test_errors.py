"""The tree of exceptions: one root, Python's own kinds beside it, sentences in the messages."""

import inspect
import pickle

import numpy as np
import pytest

from rote import errors
from rote.errors import (
    DataError,
    InfeasibleSpace,
    InputTooLarge,
    LabelError,
    MissingDependency,
    ModelError,
    NoSolution,
    Overloaded,
    RoteError,
    RuleError,
    ScoreError,
    ServiceError,
    SolverError,
    SpaceError,
    StoreError,
    UnsupportedSpace,
    locate,
    relocate,
)

EVERY = [
    value
    for _, value in inspect.getmembers(errors, inspect.isclass)
    if value.__module__ == errors.__name__
]


@pytest.mark.parametrize("error", EVERY, ids=lambda error: error.__name__)
def test_every_error_is_a_rote_error_and_is_drawn_in_the_tree(error):
    assert issubclass(error, RoteError)
    assert error.__name__ in (errors.__doc__ or "")


@pytest.mark.parametrize(
    ("error", "kinds"),
    [
        (SpaceError, (ValueError,)),
        (LabelError, (SpaceError, KeyError)),
        (RuleError, (SpaceError, TypeError)),
        (ScoreError, (ValueError,)),
        (UnsupportedSpace, (ValueError,)),
        (InfeasibleSpace, (ValueError,)),
        (NoSolution, (RuntimeError,)),
        (SolverError, (RuntimeError,)),
        (DataError, (ValueError,)),
        (ModelError, (ValueError,)),
        (StoreError, (RuntimeError,)),
        (InputTooLarge, (DataError,)),
        (ServiceError, (RuntimeError,)),
        (Overloaded, (ServiceError,)),
        (MissingDependency, (ImportError,)),
    ],
)
def test_an_error_is_also_what_python_would_have_raised(error, kinds):
    assert all(issubclass(error, kind) for kind in kinds)


def test_a_label_error_prints_its_sentence_and_not_the_quotes_of_a_key_error():
    assert str(LabelError("no label 'q'; pick another")) == "no label 'q'; pick another"
    assert str(LabelError()) == ""


def test_an_infeasible_space_lists_the_rules_and_says_what_to_do():
    error = InfeasibleSpace(["x is a", "x is b"])
    assert error.conflicting_rules == ("x is a", "x is b")
    assert str(error).splitlines()[1:] == ["  - x is a", "  - x is b"]
    assert "relax or drop one of them" in str(error)


@pytest.mark.parametrize("error", EVERY, ids=lambda error: error.__name__)
def test_an_error_survives_the_way_to_another_process(error):
    sent = error(["x is a", "x is b"]) if error is InfeasibleSpace else error("what to do")
    for before in (str(sent), f"example 17: {sent}"):
        came = pickle.loads(pickle.dumps(sent))  # noqa: S301
        assert type(came) is error
        assert str(came) == str(sent) == before
        assert vars(came) == vars(sent)
        locate(sent, "example", 17)


def test_whom_an_error_is_about_may_be_said_again():
    ours, other = DataError("it is odd"), ZeroDivisionError("odd")
    other.add_note("of the user")
    for error in (ours, other):
        locate(error, "input", 2)
        relocate(error, "example", np.array([10, 11, 12]))
    assert str(ours) == "example 12: it is odd"
    assert str(other) == "odd"
    assert other.__notes__ == ["of the user", "in example 12"]


def test_an_error_about_no_one_stays_one_when_numbers_change():
    for error in (DataError("odd"), ZeroDivisionError("odd")):
        relocate(error, "example", [10, 11])
        assert str(error) == "odd"
        assert not hasattr(error, "__notes__")
