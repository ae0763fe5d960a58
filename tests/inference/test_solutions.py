"""From labels to `Solutions`, and what they say of themselves."""

import dataclasses

import numpy as np
import pytest

from rote.errors import InfeasibleSpace, NoSolution
from rote.inference.approximate import Beam
from rote.inference.exact.duals import Duals, zero_duals
from rote.inference.problem import Problem, clamp
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.space import SpaceBuilder


def test_answers_get_their_value_and_are_infeasible_without_labels(space):
    scores = np.arange(22.0).reshape(2, 11)
    labels = np.array([[1, 2], [-1, -1]])
    solutions = Solutions.of(clamp(space, scores, {}), labels, FoundBy.TREE)
    assert solutions.value.tolist() == [1 + 4 + 10, -np.inf]
    assert solutions.bound.tolist() == solutions.value.tolist()
    assert solutions.status.tolist() == [Status.OPTIMAL, Status.INFEASIBLE]
    assert solutions.source.tolist() == [FoundBy.TREE] * 2
    assert solutions.optimal.tolist() == [True, False]
    assert solutions.gap.tolist() == [0.0, 0.0]


def test_a_bound_is_never_below_the_value_and_is_the_value_where_proved(space):
    problem = clamp(space, np.zeros((4, 11)), {})
    labels = np.array([[0, 0], [0, 0], [-1, -1], [-1, -1]])
    status = np.array([Status.OPTIMAL, Status.FEASIBLE, Status.TIMED_OUT, Status.INFEASIBLE])
    bound = np.array([5.0, -1.0, 4.0, np.inf])
    solutions = Solutions.of(
        problem, labels, FoundBy.BRANCH, bound=bound, status=status.astype(np.int64)
    )
    assert solutions.bound.tolist() == [0.0, 0.0, 4.0, -np.inf]
    assert solutions.gap.tolist() == [0.0, 0.0, np.inf, 0.0]


def test_without_any_output_the_conflicting_rules_are_named():
    builder = SpaceBuilder()
    x = builder.variable("x", "ab")
    builder.require(x["a"], "it is a")
    builder.require(x["b"], "it is b")
    space = builder.build()
    nothing = np.array([[-1]])
    with pytest.raises(InfeasibleSpace, match=r"(?s)it is a.*it is b"):
        Solutions.of(Problem(space, np.zeros(2)), nothing, FoundBy.ARGMAX)
    closed = clamp(space, np.zeros(2), {"x": "a"})
    assert Solutions.of(closed, nothing, FoundBy.ARGMAX).status.tolist() == [Status.INFEASIBLE]


def solutions_of(*answers):
    status, source = (np.array(codes, dtype=np.int64) for codes in zip(*answers, strict=True))
    labels = np.where(status > Status.FEASIBLE, -1, 0)[:, None]
    return Solutions(labels, np.zeros(len(labels)), np.zeros(len(labels)), status, source)


def test_answers_that_all_have_an_output_have_labels():
    some = solutions_of((Status.OPTIMAL, FoundBy.CHAIN), (Status.FEASIBLE, FoundBy.BEAM))
    assert some.require_outputs() is some.labels
    none = some.rows(np.arange(0))
    assert none.require_outputs().shape == (0, 1)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((Status.TIMED_OUT, FoundBy.BEAM), "no output was found, by beam; widen the beam"),
        ((Status.TIMED_OUT, FoundBy.GREEDY), "no output was found, by greedy; raise restarts"),
        ((Status.TIMED_OUT, FoundBy.BRANCH), "no output was found, by branch; raise the limit"),
        ((Status.INFEASIBLE, FoundBy.BEAM), "infeasible: no output obeys .*; relax a rule"),
    ],
)
def test_an_answer_without_output_says_whose_it_is_and_what_to_do(answer, said):
    some = solutions_of((Status.OPTIMAL, FoundBy.BEAM), answer, answer)
    with pytest.raises(NoSolution, match=rf"^input 1: .*{said}"):
        some.require_outputs()
    with pytest.raises(NoSolution, match=rf"^example 7: .*{said}"):
        some.require_outputs("example", np.array([6, 7, 8]))


def test_a_beam_that_finds_nothing_is_not_taken_for_a_limit():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(x["a"] >> y["b"])
    space = builder.build()
    scores = np.array([[0, 1.0, 1.0, 0], [1.0, 0, 1.0, 0]])
    with pytest.raises(NoSolution, match=r"^input 1: .* by beam; widen the beam"):
        Beam(width=1).solve(space, scores).require_outputs()


# -- rows, and what is said ---------------------------------------------------------------


def test_rows_takes_answers_out_and_with_rows_puts_others_in(space):
    problem = Problem(space, np.random.default_rng(0).normal(size=(4, 11)))
    labels = np.array([[0, 0], [1, 1], [0, 2], [1, 0]])
    whole = Solutions.of(problem, labels, FoundBy.CHAIN)
    other = Solutions.of(problem, labels[::-1].copy(), FoundBy.TREE)
    some, rest = np.array([3, 1]), np.array([0, 2])
    mixed = whole.with_rows(some, other.rows(some))
    for array, of_other, of_whole in zip(mixed.arrays, other.arrays, whole.arrays, strict=True):
        assert array[some].tolist() == of_other[some].tolist()
        assert array[rest].tolist() == of_whole[rest].tolist()
        assert not array.flags.writeable
    for field in dataclasses.fields(Solutions):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(whole, field.name, None)
    assert whole.source.tolist() == [FoundBy.CHAIN] * 4
    for index in (1, np.int64(1), -3, [1], slice(1, 2)):
        assert [len(array) for array in whole.rows(index).arrays] == [1] * 5
    joined = Solutions.joined([whole.rows([0]), whole.rows([]), whole.rows([1, 2, 3])])
    assert joined.labels.tolist() == whole.labels.tolist()


def test_duals_stay_with_their_inputs(space):
    problem = Problem(space, np.zeros((3, 11)))
    plain = Solutions.of(problem, np.zeros((3, 2), np.int64), FoundBy.BRANCH)
    size = zero_duals(space, 1).messages.shape[1]
    messages = np.arange(1.0, 3.0)[:, None] * np.ones(size)
    known = dataclasses.replace(plain.rows([0, 1]), duals=Duals(messages, np.zeros((2, 0))))
    mixed = plain.with_rows(np.array([2, 0]), known)
    joined = Solutions.joined([known.rows([1]), plain.rows([1]), known.rows([0])])
    assert plain.duals is None
    for answers in (mixed, joined):
        assert answers.duals.messages[:, 0].tolist() == [2.0, 0.0, 1.0]


def test_no_output_for_any_input(space):
    none = Solutions.none(space, 2)
    assert none.labels.tolist() == [[-1, -1]] * 2
    assert none.status.tolist() == [Status.INFEASIBLE] * 2
    assert none.gap.tolist() == [0.0, 0.0]


def test_repr_counts_statuses_and_sources(space):
    problem = clamp(space, np.zeros((3, 11)), {})
    labels = np.array([[0, 0], [0, 1], [-1, -1]])
    solutions = Solutions.of(problem, labels, FoundBy.BRANCH)
    first = Solutions.of(problem.rows([0]), labels[:1], FoundBy.ARGMAX)
    solutions = solutions.with_rows(np.array([0]), first)
    assert repr(solutions) == "Solutions(3: 2 optimal, 1 infeasible; by 1 argmax, 2 branch)"


def test_an_answer_is_shown_with_its_proof(space):
    problem = clamp(space, np.zeros((2, 11)), {})
    solutions = Solutions.of(problem, np.array([[0, 0], [-1, -1]]), FoundBy.BRANCH)
    text = solutions.show(space).text(60)
    for variable in space.variables:
        assert f"{variable.name} {variable.labels[0]}" in text
    assert solutions.proof() == "value 0, bound 0: optimal, by branch"
    assert solutions.proof() in text


@pytest.mark.parametrize("status", [Status.INFEASIBLE, Status.TIMED_OUT])
def test_an_answer_without_an_output_says_so(space, status):
    found = dataclasses.replace(Solutions.none(space, 1), status=np.array([status]))
    assert found.show(space).text(80).strip() == found.proof()
    assert found.proof().startswith(status.name.lower().replace("_", " "))


def test_codes_of_statuses_and_sources_are_fixed():
    """They are stored in files and sent between processes."""
    assert [status.name for status in Status] == ["OPTIMAL", "FEASIBLE", "INFEASIBLE", "TIMED_OUT"]
    codes = [source.name for source in sorted(FoundBy)]
    assert codes[:7] == ["ENUMERATION", "ARGMAX", "CHAIN", "TREE", "ELIMINATION", "BRANCH", "MILP"]
    assert [*map(int, Status)] == [0, 1, 2, 3]
    assert [*map(int, FoundBy)] == [*range(len(FoundBy))]
