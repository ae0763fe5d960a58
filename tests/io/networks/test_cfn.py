"""The CFN reader on hand-worked files, damaged files, and random ones against toulbar2."""

import json
from itertools import product

import numpy as np
import pytest

from rote.errors import DataError
from rote.io.networks.cfn import read_cfn
from rote.io.networks.table import Measure
from tests.io.damage import damaged, refused

NAME = "small.cfn"
STRICT = """{ "problem": { "name": "small", "mustbe": "<10.00" },
  "variables": { "x": ["a", "b"], "y": 3 },
  "functions": {
    "f": { "scope": ["x", "y"], "costs": [1, 2.5, 3, 4, "12.0", -6] },
    "g": { "scope": ["y"], "defaultcost": 0.5, "costs": [2, 1.5] },
    "none": { "scope": [], "costs": [0.25] },
    "h": { "scope": [1, 0], "costs": "k" },
    "k": { "scope": ["y", "x"], "defaultcost": 0, "costs": [0, "b", 3, 2, 0, 1] } } }
"""
LOOSE = """# the same, written as loosely as the format allows
[problem {name small mustbe <10.00}
variables [x [a b] y 3]
# functions without names come as well
functions {f {scope [x y] costs [1 2.5 3 4 12.0 -6]}
 {scope {y} defaultcost .5 costs {2 1.5}}
 {scope [] costs [.25]} {scope [1 0] costs k}
 k : {scope [y x], defaultcost +0 costs [0 b 3 2 a 1]}}]
"""
UNNAMED = """{{small <10.00} {x [a b] y 3}
{f {[x y] [1 2.5 3 4 12.0 -6]} {[y] 0.5 [2 1.5]} {[] [.25]} {[1 0] k} k {[y x] 0 [0 b 3 2 a 1]}}}"""


@pytest.mark.parametrize("text", [STRICT, LOOSE, UNNAMED])
def test_a_small_file_by_hand(write, best_output, text):
    network = read_cfn(write(text))
    assert network.measure is Measure.COST
    assert network.names == ("x", "y")
    assert network.labels == (("a", "b"), ("0", "1", "2"))
    assert network.scopes == ((0, 1), (1,), (1, 0), (1, 0))
    assert network.tables[0].tolist() == [[-1, -2.5, -3], [-4, -4, 6]]
    assert network.allowed[0].tolist() == [[True, True, True], [True, False, True]]
    assert network.tables[1].tolist() == [-0.5, -0.5, -1.5]
    assert network.tables[2].tolist() == [[0, -3], [0, 0], [-1, 0]]
    assert np.array_equal(network.tables[2], network.tables[3])
    assert network.constant == -0.25
    assert network.cost(-10.0) == 10.0
    assert best_output(network) == (6 - 1.5 - 0.25, [1, 2])


def test_functions_are_called_by_name_or_by_their_variables(write):
    named = "the function f", "the function g", "the function h", "the function k"
    assert read_cfn(write(STRICT)).table_names == named
    assert read_cfn(write(LOOSE)).table_names[1:3] == (
        "the function over y",
        "the function over y, x",
    )


def test_a_strict_file_is_json():
    assert json.loads(STRICT)["problem"]["name"] == "small"


def test_a_lower_bound_maximises(write, best_output):
    text = '{{p, ">-5.0"} {v: [a, b]} {{[] [-6]}, {[v] [1.0, 1.5]}}}'
    network = read_cfn(write(text))
    assert network.measure is Measure.GAIN
    assert network.floor == pytest.approx(-5)  # -6 + 1 is not above it
    assert best_output(network) == (-4.5, [1])
    assert network.cost(-4.5) == -4.5


def test_variables_without_names_get_one(write):
    network = read_cfn(write("{{p <9} [[a b] 2 z 3] {{[x1 z 0] 1 []}}}"))
    assert network.names == ("x0", "x1", "z")
    assert network.scopes == ((1, 2, 0),)
    assert network.tables[0].shape == (2, 3, 2)


def test_decimals_that_add_up_to_the_bound_are_at_it(write, best_output):
    # In floats, 0.1 + 0.2 and 0.3 differ; a total of 0.3 is no answer all the same.
    text = "{{p <0.3} {x 1 y 1} {{[x] [0.1]} {[y] [0.2]}}}"
    assert best_output(read_cfn(write(text))) is None
    assert best_output(read_cfn(write(text.replace("0.3", "0.31")))) is not None


def test_the_last_bracket_may_be_missing(write, best_output):
    cut = STRICT.rstrip().removesuffix("}")
    assert best_output(read_cfn(write(cut))) == best_output(read_cfn(write(STRICT)))


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ('{ "problem"', '"problem"', 1, "a bracket that opens the file, got '\"problem\"'"),
        ('"name": ', "", 1, "expected the field 'name', got 'small'"),
        ('"<10.00"', '"10.00"', 1, "a bound such as <10.0 .*got '10.00'"),
        ('"<10.00"', '"< 10.00"', 1, "a bound such as <10.0 .*got '< 10.00'"),
        ('"<10.00"', '"<1e3"', 1, "a bound such as <10.0 .*got '<1e3'"),
        ('"variables"', '"vars"', 2, "expected the field 'variables', got 'vars'"),
        ('["a", "b"]', '["a", "a"]', 2, "'x' has the label 'a' twice"),
        ('["a", "b"]', '["a", "2b"]', 2, "a label, which does not start as a number does"),
        ('["a", "b"]', "[]", 2, "'x' has no labels"),
        ('["a", "b"]', '["a", "b]', 2, "a quote that is not closed"),
        ('["a", "b"]', '["a", ""]', 2, "expected a label, got '\"\"'"),
        ('"y": 3', '"x": 3', 2, "two variables are called 'x'"),
        ('"y": 3', '"y": 0', 2, "one label or more, got '0'"),
        ('"y": 3', '"y": -3', 2, "'y' is an interval"),
        ('["x", "y"]', '["x", "z"]', 4, "a variable or its index, got 'z'; there are x, y"),
        ('["x", "y"]', '["x", 2]', 4, "a variable or its index, got '2'"),
        ('["x", "y"]', '["x", "x"]', 4, "names each variable once"),
        ("[1, 2.5, 3", "[1, 3", 4, "one of the 6 costs of the function f, got ']'"),
        ("[1, 2.5, 3", "[1, 2.5, 3, 3", 4, "a bracket that closes the costs of the function f"),
        ("[1, 2.5, 3", "[1, 2.5e0, 3", 4, "an integer or a decimal, got '2.5e0'"),
        ('"defaultcost": 0.5', '"defaultcost": "half"', 5, "a default cost, .*got 'half'"),
        ("[2, 1.5]", "[3, 1.5]", 5, "a label or its index, got '3'; there are 0, 1, 2"),
        ("[2, 1.5]", "[2, 1.5, 2, 2]", 5, r"the tuple \[2\] stands twice"),
        ("[2, 1.5]", "[2]", 5, "the cost of a tuple, got ']'"),
        ('"costs": "k"', '"costs": "g"', 7, r"no such function over variables with \[3, 2\]"),
        ('"costs": "k"', '"type": ">=", "params": [1, 2]', 7, "is given by a formula"),
        ("1] } } }", "1] } } } }", 8, "expected the end of the file, got '}'"),
        ("1] } } }", "1] }", 8, "and the file ends here"),
    ],
)
def test_a_damaged_file_is_answered_with_its_line_and_a_reason(write, old, new, line, reason):
    path = write(damaged(STRICT, old, new))
    with refused(path, line, reason):
        read_cfn(path)


def test_comments_do_not_shift_the_lines_of_errors(write):
    with pytest.raises(DataError, match="line 3: expected the field 'variables'"):
        read_cfn(write("{problem {name p mustbe <1}\n# a comment\nvars {x 2}"))


def test_a_formula_without_field_names_is_refused(write):
    with pytest.raises(DataError, match="is given by a formula"):
        read_cfn(write("{{p <9} {x 2 y 2} {{[x y] >= [1 2]}}}"))


def random_file(rng, sense):
    """A random file, its sizes, its tables and its bound; costs have two decimals."""
    n = int(rng.integers(1, 5))
    sizes = rng.integers(1, 4, n)
    bound = float(rng.integers(-200, 900)) / 100
    labelled = rng.random(n) < 0.5
    named = {
        f"v{j}": [f"l{a}" for a in range(size)] if labelled[j] else int(size)
        for j, size in enumerate(sizes)
    }
    functions, tables = {}, []
    for f in range(int(rng.integers(1, 7))):
        scope = rng.permutation(n)[: rng.integers(0, min(n, 3) + 1)]
        table = np.round(rng.integers(-300, 1000, sizes[scope]) / 100, 2)
        function = {"scope": [f"v{j}" for j in scope]}
        if len(scope) and rng.random() < 0.5:
            default = float(rng.integers(-300, 1000)) / 100
            listed = rng.random(table.shape) < 0.6
            table = np.where(listed, table, default)
            function["defaultcost"] = default
            function["costs"] = [
                word
                for labels in np.argwhere(listed).tolist()
                for word in [
                    *(
                        f"l{a}" if labelled[j] and rng.random() < 0.5 else a
                        for j, a in zip(scope, labels, strict=True)
                    ),
                    float(table[tuple(labels)]),
                ]
            ]
        else:
            function["costs"] = [float(cost) for cost in table.ravel()]
        functions[f"f{f}"] = function
        tables.append((scope, table))
    problem = {"name": "random", "mustbe": f"{sense}{bound:.2f}"}
    text = json.dumps({"problem": problem, "variables": named, "functions": functions}, indent=1)
    return text, sizes, tables, bound


def best_total(sizes, tables, sense, bound):
    """In hundredths, so that comparisons with the bound are exact."""
    sign = 1 if sense == "<" else -1
    totals = (
        sum(round(100 * float(t[tuple(y[j] for j in scope)])) for scope, t in tables)
        for y in product(*map(range, sizes))
    )
    good = [sign * total for total in totals if sign * total < sign * round(100 * bound)]
    return sign * min(good) / 100 if good else None


def solved(tmp_path, sense, count, seed):
    rng = np.random.default_rng(seed)
    for k in range(count):
        text, sizes, tables, bound = random_file(rng, sense)
        path = tmp_path / f"p{k}.cfn"
        path.write_text(text)
        yield path, best_total(sizes, tables, sense, bound)


def test_random_costs_have_the_optimum_of_their_tables_and_of_toulbar2(
    tmp_path, toulbar2, best_output
):
    pairs = list(solved(tmp_path, "<", 60, seed=6))
    assert 5 < sum(expected is None for _, expected in pairs) < 50
    judged = toulbar2([path for path, _ in pairs])
    for (path, expected), answer in zip(pairs, judged, strict=True):
        found = best_output(read_cfn(path))
        assert (found and -found[0]) == (None if expected is None else pytest.approx(expected))
        assert (answer and answer[1]) == (None if expected is None else pytest.approx(expected))


def test_random_gains_have_the_optimum_of_their_tables_and_of_toulbar2(
    tmp_path, toulbar2, best_output
):
    pairs = list(solved(tmp_path, ">", 8, seed=7))
    assert any(expected is not None for _, expected in pairs)
    for path, expected in pairs:
        found = best_output(read_cfn(path))
        (answer,) = toulbar2([path])
        assert (found and found[0]) == (None if expected is None else pytest.approx(expected))
        assert (answer and answer[1]) == (None if expected is None else pytest.approx(expected))


def test_numbers_beyond_all_floats_are_refused(write):
    large = "1" + 400 * "0"
    costs = '"costs": [1, 2.5, 3, 4, "12.0", -6]'
    with pytest.raises(DataError, match=r"line 4: expected .* a finite number"):
        read_cfn(write(STRICT.replace(costs, f'"costs": [1, 2.5, 3, 4, {large}, -6]')))
    with pytest.raises(DataError, match=r"line 4: expected .* fits into 64 bits"):
        read_cfn(write(STRICT.replace("12.0", large)))
    with pytest.raises(DataError, match=r"line 1: expected a bound that fits into 64 bits"):
        read_cfn(write(STRICT.replace("<10.00", f"<{large}")))


def test_costs_beyond_64_bit_integers_stay_what_they_are(write):
    network = read_cfn(write(STRICT.replace("12.0", str(2**63)).replace("0.5", str(2**64))))
    assert network.allowed[0].tolist() == [[True, True, True], [True, False, True]]
    assert network.allowed[1].tolist() == [False, False, True]
