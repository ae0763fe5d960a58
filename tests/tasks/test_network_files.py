"""Files become spaces and scores whose best value is the file's own optimum."""

import json
from itertools import product
from math import inf, log
from pathlib import Path

import numpy as np
import pytest

from rote.engines import Engine, FoundBy, Solutions, Status
from rote.errors import InfeasibleSpace, SettingError
from rote.inference.exact.exhaustive import Exhaustive
from rote.io.networks.table import Measure, cost_network, numbered, probability_network
from rote.tasks.network_files import network_problem, solve_file

SMALL = "small 3 3 4 20  2 3 2  2 0 1 1 2  0 0 4  1 2 20  2 1 0 2 1  2 0 0  1 2 0 1  1 7  0 2 0"


@pytest.fixture
def write(tmp_path):
    def write_text(text, name):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write_text


def network(costs, scopes, sizes, top=100.0):
    tables = [np.array(table, dtype=float) for table in costs]
    names = [f"cost function {t}" for t in range(len(costs))]
    labels = [numbered(size) for size in sizes]
    return cost_network(Path("n.wcsp"), None, labels, scopes, tables, names, top)


# -- problems -----------------------------------------------------------------------------


def test_tables_over_the_same_variables_become_one_factor():
    first, second = [[1, 2, 3], [4, 5, 6]], [[10, 20], [30, 40], [50, 60]]
    problem = network_problem(network([first, second], [(0, 1), (1, 0)], (2, 3)))
    assert [factor.variables for factor in problem.space.factors] == [(0, 1)]
    assert problem.space.rules == ()
    expected = -(np.array(first) + np.array(second).T)
    assert problem.scores[problem.space.labels :].tolist() == expected.ravel().tolist()
    assert problem.constant == 0


def test_tables_over_one_variable_become_scores_of_its_labels():
    problem = network_problem(network([[1, 2], [3, 5], [0, 9]], [(1,), (1,), (0,)], (2, 2)))
    assert problem.space.factors == ()
    assert problem.scores.tolist() == [0, -9, -4, -7]


def test_tables_that_are_the_same_everywhere_become_the_constant():
    problem = network_problem(network([[[3, 3], [3, 3]], 2, [4, 4]], [(0, 1), (), (0,)], (2, 2)))
    assert problem.space.factors == ()
    assert not problem.scores.any()
    assert problem.constant == -9


def test_what_a_table_forbids_becomes_a_rule_of_its_name():
    problem = network_problem(network([[[0, 100], [100, 5]]], [(1, 0)], (2, 2)))
    (named,) = problem.space.rules
    assert named.name == "cost function 0 of n.wcsp forbids 2 of 4 labellings of x1, x0"
    outputs = np.array(list(product(range(2), repeat=2)))
    assert problem.space.holds(outputs).tolist() == [True, False, False, True]


def test_a_table_that_only_forbids_needs_no_factor():
    problem = network_problem(network([[[7, 100], [100, 7]]], [(0, 1)], (2, 2)))
    assert problem.space.factors == ()
    assert len(problem.space.rules) == 1
    assert problem.constant == -7


def test_scores_of_forbidden_labellings_do_not_tempt():
    problem = network_problem(network([[3, 100, 8]], [(0,)], (3,)))
    assert problem.scores.tolist() == [-3, -8, -8]


def test_a_network_without_variables_is_its_constant():
    problem = network_problem(network([4.0], [()], ()))
    assert problem.space.parts == 0
    assert problem.constant == -4


# -- answers ------------------------------------------------------------------------------


def test_a_small_cost_file_by_hand(write):
    # x0=0, x1=1: 1 + 2; x2=0: 0; constant 2. The only cheaper pair, x1=2 x0=0, costs 1 + 0.
    answer = solve_file(write(SMALL, "small.wcsp"))
    assert dict(answer.labels) == {"x0": "0", "x1": "2", "x2": "0"}
    assert (answer.value, answer.bound, answer.cost) == (-3, -3, 3)
    assert answer.status is Status.OPTIMAL
    assert isinstance(answer.source, FoundBy)
    assert answer.seconds > 0


def test_a_probability_file_is_valued_by_its_logarithm(write):
    path = write("MARKOV 2 2 2 2  1 0  2 0 1  2 0.25 0.75  4 0.5 0.25 0 1.0", "p.uai")
    answer = solve_file(path)
    assert answer.value == pytest.approx(log(0.75))
    assert answer.cost is None
    given = solve_file(path, evidence=write("1 1 0", "p.evid"))
    assert given.value == pytest.approx(log(0.25 * 0.5))
    assert given.labels["x1"] == "0"


def test_a_gain_file_is_valued_by_its_gain_under_its_own_names(write):
    text = "{{p >-5.0} {v [a b] w [c d]} {{[] [-6]} {[v w] [-1.0 0.5 -2.0 5.5]} {[v] [1 0.5]}}}"
    answer = solve_file(write(text, "gain.cfn"))
    assert dict(answer.labels) == {"v": "b", "w": "d"}
    assert answer.value == answer.cost == pytest.approx(0.0)


def test_tables_that_conflict_are_named(write):
    # x0 = x1, x1 = x2, x0 != x2; and a fourth table that has no part in it.
    same, other = "0 1 9  1 0 9", "0 0 9  1 1 9"
    text = f"c 3 2 4 9  2 2 2  2 0 1 0 2 {same}  2 1 2 0 2 {same}  2 0 2 0 2 {other}  1 0 0 1 0 3"
    with pytest.raises(InfeasibleSpace) as caught:
        solve_file(write(text, "c.wcsp"))
    assert len(caught.value.conflicting_rules) == 3
    for t in range(3):
        assert f"cost function {t} of c.wcsp forbids 2 of 4 labellings" in str(caught.value)


def test_a_probability_of_zero_over_no_variable_leaves_no_output(write):
    with pytest.raises(InfeasibleSpace, match=r"table 0 of z\.uai forbids every output"):
        solve_file(write("MARKOV 1 2 2  0  1 0  1 0.0  2 0.5 0.5", "z.uai"))


@pytest.mark.parametrize(
    ("text", "name", "reason"),
    [
        (
            "s 2 2 3 10  2 2  1 0 4 1 1 5  1 1 4 1 1 6  2 0 1 1 1 0 0 2",
            "s.wcsp",
            r"total cost stays below 10, .* of s\.wcsp; the least possible is 10",
        ),
        (
            "{{s <10.5} {x 2 y 2} {{[x] [4 6]} {[y] [4 6]} {[x y] [3 1 1 1]}}}",
            "s.cfn",
            r"total cost stays below 10\.5, .* of s\.cfn; the least possible is 11",
        ),
        (
            "{{s >10.0} {x 2 y 2} {{[x] [6 5]} {[y] [6 5]} {[x y] [-9 -1 -1 -1]}}}",
            "s.cfn",
            r"total cost stays above 10, .* of s\.cfn; the most possible is 10",
        ),
    ],
)
def test_a_total_at_the_bound_is_no_answer(write, text, name, reason):
    # Every single cost is on the right side of the bound; no sum of them is.
    with pytest.raises(InfeasibleSpace, match=reason):
        solve_file(write(text, name))


class Hasty(Engine):
    """An engine that gives up after its first thought."""

    def __init__(self, status, labels, bound):
        self.status, self.labels, self.bound = status, labels, bound

    def answer(self, problem, context):
        labels = np.array([self.labels])
        value = problem.value(labels) if self.labels[0] >= 0 else np.array([-inf])
        codes = np.array([self.status]), np.array([FoundBy.BRANCH])
        return Solutions(labels, value, np.array([self.bound]), *codes)


LIMITED = "l 2 2 3 10  2 2  1 0 4 1 1 5  1 1 4 1 1 6  2 0 1 0 1 0 0 2"  # optimum 9 at (1, 0)


@pytest.mark.parametrize(
    ("engine", "status", "labels", "cost", "bound"),
    [
        (Hasty(Status.FEASIBLE, [1, 0], -2.0), Status.FEASIBLE, ["1", "0"], 9, -2),
        (Hasty(Status.FEASIBLE, [0, 0], -2.0), Status.TIMED_OUT, [], inf, -2),
        (Hasty(Status.TIMED_OUT, [-1, -1], inf), Status.TIMED_OUT, [], inf, inf),
        (Exhaustive(), Status.OPTIMAL, ["1", "0"], 9, -9),
    ],
    ids=["not proved", "at the bound of the file", "nothing in time", "proved"],
)
def test_an_engine_of_ones_own_is_used_and_its_answer_is_what_it_proved(
    write, engine, status, labels, cost, bound
):
    path = write(LIMITED, "l.wcsp")
    answer = solve_file(path, engine=engine)
    assert (answer.status, answer.cost, answer.bound) == (status, cost, bound)
    assert list(answer.labels.values()) == labels
    with pytest.raises(SettingError, match="give it to your engine instead"):
        solve_file(path, engine=engine, time_limit=10.0)


# -- random files -------------------------------------------------------------------------


def random_tables(rng, whole):
    n = int(rng.integers(1, 6))
    sizes = rng.integers(1, 4, n).tolist()
    scopes = [tuple(rng.permutation(n)[: rng.integers(0, min(n, 3) + 1)]) for _ in range(6)]
    shapes = [[sizes[j] for j in scope] for scope in scopes]
    if whole:
        return sizes, scopes, [rng.integers(0, 12, shape) for shape in shapes]
    return sizes, scopes, [np.round(rng.normal(0, 3, shape), 3) for shape in shapes]


def totals(sizes, scopes, tables):
    outputs = product(*map(range, sizes))
    return [
        sum(float(t[tuple(y[j] for j in scope)]) for scope, t in zip(scopes, tables, strict=True))
        for y in outputs
    ]


def wcsp_text(sizes, scopes, tables, top):
    words = ["random", len(sizes), max(sizes), len(scopes), top, *sizes]
    for scope, table in zip(scopes, tables, strict=True):
        words += [len(scope), *scope, int(table) if not scope else 0, table.size if scope else 0]
        for labels in product(*map(range, table.shape)) if scope else ():
            words += [*labels, table[labels]]
    return " ".join(map(str, words))


def cfn_text(sizes, scopes, tables, bound):
    functions = [
        {"scope": list(map(int, scope)), "costs": np.ravel(table).tolist()}
        for scope, table in zip(scopes, tables, strict=True)
    ]
    named = {f"f{k}": function for k, function in enumerate(functions)}
    problem = {"name": "random", "mustbe": bound}
    variables = {f"v{j}": size for j, size in enumerate(sizes)}
    return json.dumps({"problem": problem, "variables": variables, "functions": named})


def check(path, expected):
    """The default engine finds ``expected``, or that nothing is within the bound."""
    if expected is None:
        with pytest.raises(InfeasibleSpace):
            solve_file(path)
        return
    answer = solve_file(path)
    assert answer.cost == pytest.approx(expected)
    assert answer.status is Status.OPTIMAL
    assert answer.bound == answer.value


def test_random_cost_files_are_solved_to_their_least_cost(write):
    rng = np.random.default_rng(11)
    infeasible = 0
    for _ in range(60):
        sizes, scopes, tables = random_tables(rng, whole=True)
        top = int(rng.integers(8, 30))
        expected = min((c for c in totals(sizes, scopes, tables) if c < top), default=None)
        infeasible += expected is None
        check(write(wcsp_text(sizes, scopes, tables, top), "r.wcsp"), expected)
    assert 5 < infeasible < 50


@pytest.mark.parametrize("sense", ["<", ">"])
def test_random_decimal_files_are_solved_to_their_best_total(write, sense):
    rng = np.random.default_rng(12)
    best = min if sense == "<" else max
    infeasible = 0
    for _ in range(40):
        sizes, scopes, tables = random_tables(rng, whole=False)
        bound = round(float(rng.normal(0, 4)), 2)
        found = best(totals(sizes, scopes, tables))
        good = found < bound if sense == "<" else found > bound
        infeasible += not good
        text = cfn_text(sizes, scopes, tables, f"{sense}{bound}")
        check(write(text, "r.cfn"), found if good else None)
    assert 0 < infeasible < 30


def test_random_probability_files_are_solved_to_their_likeliest_output():
    rng = np.random.default_rng(13)
    for _ in range(30):
        sizes, scopes, tables = random_tables(rng, whole=False)
        chances = [np.where(table < -3, 0.0, np.exp(table)) for table in tables]
        with np.errstate(divide="ignore"):
            logs = [np.log(table) for table in chances]
        expected = max(totals(sizes, scopes, logs))
        network = probability_network(Path("r.uai"), sizes, scopes, chances)
        assert network.measure is Measure.PROBABILITY
        problem = network_problem(network)
        outputs = np.array(list(product(*map(range, sizes))))
        held = problem.space.holds(outputs)
        scores = np.broadcast_to(problem.scores, (len(outputs), problem.space.parts))
        values = problem.constant + problem.space.value(scores, outputs)
        assert held.any() == (expected > -inf)
        if held.any():
            assert values[held].max() == pytest.approx(expected)
