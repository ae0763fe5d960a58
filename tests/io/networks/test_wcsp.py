"""The WCSP reader on hand-worked files, damaged files, and random ones against toulbar2."""

from itertools import product

import numpy as np
import pytest

from rote.errors import DataError
from rote.io.networks.wcsp import read_wcsp
from tests.io.damage import damaged, refused

NAME = "small.wcsp"
SMALL = """small 3 3 5 10
2 3 2
2 0 1 1 2
0 0 4
1 2 10
1 2 0 1
1 7
0 2 0
-2 0 2 0 1
1 1 3
2 2 0 0 -1
"""


def test_a_small_file_by_hand(write, best_output):
    network = read_wcsp(write(SMALL))
    assert network.labels == (("0", "1"), ("0", "1", "2"), ("0", "1"))
    assert network.scopes == ((0, 1), (2,), (0, 2), (2, 0))
    assert network.table_names == (
        "cost function 0",
        "cost function 1",
        "cost function 3",
        "cost function 4",
    )
    assert network.tables[0].tolist() == [[-4, -1, -1], [-1, -1, -4]]
    assert network.allowed[0].tolist() == [[True, True, True], [True, True, False]]
    assert network.tables[1].tolist() == [0, -7]
    assert network.constant == -2
    assert np.array_equal(network.tables[2], network.tables[3])  # shared
    assert best_output(network) == (-3, [0, 1, 0])
    assert network.cost(-3.0) == 3


def test_a_total_of_top_is_no_answer(write, best_output):
    text = "sum 2 2 2 {} 2 2  1 0 5 0  1 1 5 0"
    assert best_output(read_wcsp(write(text.format(11)))) == (-10, [0, 0])
    assert best_output(read_wcsp(write(text.format(10)))) is None


def test_a_tuple_given_twice_with_the_same_cost_is_one_tuple(write):
    network = read_wcsp(write("twice 1 2 1 9  2  1 0 0 2  1 3  1 3"))
    assert network.tables[0].tolist() == [0, -3]


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("small 3", "small three", 1, "the number of variables, a whole number, got 'three'"),
        ("5 10", "5 10.5", 1, "upper bound of the total cost, a whole number, got '10.5'"),
        ("2 3 2\n", "2 4 2\n", 2, "number of labels, at most 3, got 4"),
        ("2 3 2\n", "2 0 2\n", 2, "at least one label, got 0"),
        ("2 3 2\n", "2 -3 2\n", 2, "over an interval"),
        ("2 0 1 1 2", "2 0 3 1 2", 3, "the index of a variable, between 0 and 2, got 3"),
        ("2 0 1 1 2", "2 0 0 1 2", 3, "names each variable once"),
        ("2 0 1 1 2", "4 0 1 1 2", 3, "the arity of cost function 0, between -3 and 3, got 4"),
        ("2 0 1 1 2", "2 0 1 -1 salldiff", 3, "'salldiff' is given by a formula"),
        ("2 0 1 1 2", "2 0 1 -2 2", 3, "a default cost, at least -1, got -2"),
        ("1 2 10", "1 3 10", 5, "expected a label below 3, got 3"),
        ("1 2 10", "1 2 -1", 5, "expected a cost, got -1"),
        ("1 2 10", "1 2 1.5", 5, "expected a cost, got 1.5"),
        ("1 2 10", "1 x 10", 5, "a finite number, got 'x'"),
        ("1 2 10", "0 0 10", 5, r"the tuple \[0, 0\] stands twice"),
        ("0 2 0\n", "0 2 1\n", 8, "arity 0 has no tuples, got 1"),
        ("2 2 0 0 -1", "2 2 0 0 -2", 11, "a number of tuples, at least -1, got -2"),
        ("2 2 0 0 -1", "2 2 1 0 -1", 11, r"shared function 1 is over variables with \[2, 2\]"),
        ("2 2 0 0 -1", "2 2 0 0", 11, "a number of tuples, and the file ends here"),
        ("2 2 0 0 -1", "2 2 0 0 -1 5", 11, "expected the end of the file, got '5'"),
    ],
)
def test_a_damaged_file_is_answered_with_its_line_and_a_reason(write, old, new, line, reason):
    path = write(damaged(SMALL, old, new))
    with refused(path, line, reason):
        read_wcsp(path)


def random_file(rng):
    """A random file, its sizes, its tables and its top."""
    n = int(rng.integers(1, 5))
    sizes = rng.integers(1, 4, n)
    top = int(rng.integers(8, 30))
    lines, tables = [], []
    count = int(rng.integers(1, 7))
    for _ in range(count):
        scope = rng.permutation(n)[: rng.integers(0, min(n, 3) + 1)]
        default = int(rng.integers(0, 4))
        table = np.full(sizes[scope], default)
        rows = [""]
        for labels in product(*map(range, table.shape)):
            if len(scope) and rng.random() < 0.5:
                table[labels] = rng.integers(0, top + 3)
                rows.append(" ".join(map(str, [*labels, table[labels]])))
        lines.append(" ".join(map(str, [len(scope), *scope, default, len(rows) - 1])))
        lines += rows[1:]
        tables.append((scope, table))
    head = [f"random {n} {max(sizes)} {count} {top}", " ".join(map(str, sizes))]
    return "\n".join([*head, *lines]) + "\n", sizes, tables, top


def least_cost(sizes, tables, top):
    outputs = product(*map(range, sizes))
    totals = [sum(t[tuple(y[j] for j in scope)] for scope, t in tables) for y in outputs]
    return min((total for total in totals if total < top), default=None)


def test_random_files_have_the_optimum_of_their_tables_and_of_toulbar2(
    tmp_path, toulbar2, best_output
):
    rng = np.random.default_rng(5)
    paths, least = [], []
    for k in range(60):
        text, sizes, tables, top = random_file(rng)
        path = tmp_path / f"p{k}.wcsp"
        path.write_text(text)
        paths.append(path)
        least.append(least_cost(sizes, tables, top))
    assert 5 < least.count(None) < 50
    for path, expected, judged in zip(paths, least, toulbar2(paths), strict=True):
        found = best_output(read_wcsp(path))
        assert (found and -found[0]) == expected
        assert (judged and judged[1]) == expected


@pytest.mark.parametrize("top", [10, 2**53, 2**62, 2**63, 2**64, 10**30, 10**400])
def test_costs_of_the_upper_bound_or_more_are_forbidden_however_large(write, best_output, top):
    for large in (top, top + 1, 4 * top, 10**500):
        text = f"large 2 2 3 {top}\n2 2\n1 0 1 1\n0 {large}\n2 0 1 {large} 1\n1 1 2\n0 0 0\n"
        if large >= 10**309:  # no float, and so no number of a tuple
            text = text.replace(f"0 {large}\n", "0 9\n", 1)
        network = read_wcsp(write(text))
        assert network.allowed[0].tolist() == [large >= 10**309 and top > 9, True]
        assert network.allowed[1].tolist() == [[False, False], [False, True]]
        assert network.constant == 0
        assert best_output(network) == (-3, [1, 1])


@pytest.mark.parametrize("large", [2**53, 2**53 + 1, 2**63, 10**20])
def test_costs_that_floats_do_not_hold_exactly_are_refused(write, large):
    top = 2 * large
    start = f"large 2 2 2 {top}\n2 2\n"
    with pytest.raises(DataError, match=r"small.wcsp, line 4: a cost is below 2\*\*53, or forbid"):
        read_wcsp(write(f"{start}1 0 1 1\n0 {large}\n0 0 0\n"))
    with pytest.raises(DataError, match=r"small.wcsp, line 3: a cost is below 2\*\*53, or forbid"):
        read_wcsp(write(f"{start}1 0 {large} 1\n0 1\n0 0 0\n"))
    with pytest.raises(DataError, match=r"small.wcsp, line 5: a cost is below 2\*\*53, or forbid"):
        read_wcsp(write(f"{start}1 0 1 1\n0 1\n0 {large} 0\n"))
    exact = 2**53 - 1
    network = read_wcsp(write(f"{start}1 0 1 1\n0 {exact}\n0 5 0\n"))
    assert network.tables[0].tolist() == [-exact, -1]
