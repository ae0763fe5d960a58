"""The UAI reader on hand-worked files, damaged files, and random ones against brute force."""

from itertools import product
from math import log

import numpy as np
import pytest

from rote.errors import DataError
from rote.io.networks.uai import read_uai
from tests.io.damage import damaged, refused

NAME = "small.uai"
SMALL = """MARKOV
2
2 3
3
1 0
2 0 1
0
2
 0.4 0.6
6
 1 0 3
 4 5 6
1
 0.5
"""


def test_a_small_file_by_hand(write, best_output):
    network = read_uai(write(SMALL))
    assert network.names == ("x0", "x1")
    assert network.labels == (("0", "1"), ("0", "1", "2"))
    assert network.scopes == ((0,), (0, 1))
    assert network.constant == pytest.approx(log(0.5))
    assert network.tables[1][1] == pytest.approx(np.log([4, 5, 6]))
    assert network.allowed[1].tolist() == [[True, False, True], [True, True, True]]
    assert best_output(network) == (pytest.approx(log(0.6 * 6 * 0.5)), [1, 2])


def test_line_ends_mean_nothing_and_bayes_is_read_alike(write):
    plain, loose = read_uai(write(SMALL)), read_uai(write(SMALL.replace("\n", "\t \n\n")))
    bayes = read_uai(write(" ".join(SMALL.replace("MARKOV", "bayes").split())))
    for other in (loose, bayes):
        assert other.scopes == plain.scopes
        assert all(np.array_equal(a, b) for a, b in zip(other.tables, plain.tables, strict=True))


@pytest.mark.parametrize("text", ["1 0 0", "1\n1 0 0\n"])
def test_evidence_in_both_versions_of_its_format(write, best_output, text):
    network = read_uai(write(SMALL), evidence=write(text, "small.uai.evid"))
    assert best_output(network) == (pytest.approx(log(0.4 * 3 * 0.5)), [0, 2])


@pytest.mark.parametrize("text", ["", "0", "1 0"])
def test_evidence_on_nothing(write, text):
    assert len(read_uai(write(SMALL), evidence=write(text, "small.evid")).tables) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2 0", "expected the number of samples .*, between 1 and 1, got 2"),
        ("1 9 0", "expected the index of a variable, between 0 and 1, got 9"),
        ("1 0 2", "expected the index of a label, between 0 and 1, got 2"),
        ("2 0 1 0 0", "variable 0 has evidence already"),
        ("1 0 0 0 0", "expected the end of the file"),
        ("3 0 1", "the file ends here"),
    ],
)
def test_damaged_evidence(write, text, reason):
    with pytest.raises(DataError, match=f"small.evid, line 1: .*{reason}"):
        read_uai(write(SMALL), evidence=write(text, "small.evid"))


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("MARKOV", "IMAGE", 1, "expected MARKOV or BAYES, got 'IMAGE'"),
        ("2 3", "2 0", 3, "a variable's number of labels, between 1 and 1048576, got 0"),
        ("2 0 1\n", "2 0 2\n", 6, "the index of a variable, between 0 and 1, got 2"),
        ("2 0 1\n", "2 1 1\n", 6, "names each variable once, got .1, 1."),
        ("2 0 1\n", "3 0 1\n", 6, "the arity of a table, between 0 and 2, got 3"),
        ("6\n 1", "5\n 1", 10, "has 6 entries, got a count of 5"),
        (" 1 0 3", " 1 -0.5 3", 11, "a probability is not negative, got -0.5"),
        (" 1 0 3", " 1 nan 3", 11, "a finite number, got 'nan'"),
        (" 1 0 3", " 1 zero 3", 11, "a finite number, got 'zero'"),
        (" 0.5\n", "", 13, "expected an entry of table 2, and the file ends here"),
        (" 0.5\n", " 0.5\n7", 15, "expected the end of the file, got '7'"),
    ],
)
def test_a_damaged_file_is_answered_with_its_line_and_a_reason(write, old, new, line, reason):
    path = write(damaged(SMALL, old, new))
    with refused(path, line, reason):
        read_uai(path)


def test_a_table_that_would_not_fit_into_memory_is_refused(write):
    with pytest.raises(DataError, match="line 5: this table is over 8 variables and has 100000000"):
        read_uai(write(f"MARKOV\n8\n{'10 ' * 8}\n1\n8 0 1 2 3 4 5 6 7\n100000000\n"))


def random_file(rng):
    """A random file, and the tables in it."""
    n = int(rng.integers(1, 5))
    sizes = rng.integers(1, 4, n)
    scopes = [tuple(rng.permutation(n)[: rng.integers(0, min(n, 3) + 1)]) for _ in range(5)]
    tables = [rng.random([sizes[j] for j in scope]) for scope in scopes]
    tables = [np.where(rng.random(t.shape) < 0.15, 0.0, t) if t.ndim else t for t in tables]
    lines = ["MARKOV", f"{n}", " ".join(map(str, sizes)), f"{len(scopes)}"]
    lines += [" ".join(map(str, [len(scope), *scope])) for scope in scopes]
    for table in tables:
        lines += [f"{table.size}", " ".join(map(repr, map(float, table.ravel())))]
    return "\n".join(lines), sizes, scopes, tables


def test_random_files_have_the_optimum_of_their_tables(write, best_output):
    rng = np.random.default_rng(3)
    infeasible = 0
    for _ in range(60):
        text, sizes, scopes, tables = random_file(rng)
        products = {
            output: np.prod([t[tuple(output[j] for j in s)] for s, t in zip(scopes, tables)])  # noqa: B905
            for output in product(*map(range, sizes))
        }
        found = best_output(read_uai(write(text)))
        if max(products.values()) == 0:
            infeasible += 1
            assert found is None
        else:
            assert np.exp(found[0]) == pytest.approx(max(products.values()))
            assert products[tuple(found[1])] == pytest.approx(max(products.values()))
    assert 0 < infeasible < 30


def test_random_files_have_the_optimum_that_toulbar2_finds(tmp_path, toulbar2, best_output):
    rng = np.random.default_rng(4)
    paths = []
    for k in range(30):
        path = tmp_path / f"p{k}.uai"
        path.write_text(random_file(rng)[0])
        paths.append(path)
    for path, judged in zip(paths, toulbar2(paths), strict=True):
        found = best_output(read_uai(path))
        # Random tables have one best output; the judge's rounded logarithms are not compared.
        assert (found and found[1]) == (judged and judged[0])
