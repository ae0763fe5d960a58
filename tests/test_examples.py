"""Every script in examples/ asks a question in its first line, runs, and prints the answer."""

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from rote import Multiclass, train

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))

# Both owls would take the night; the rule leaves it to the one who is young as well.
OWN_TASK = "Ada (owl): off\nDov (owl young): night\nBen (lark): day\nFay (tired): off\n"

# A published puzzle with one solution; test_a_sudoku_is_solved judges every digit.
SUDOKU = r"(?:(?:[1-9] ){8}[1-9]\n){9}the only one: yes\n"

# By hand: of the plates with two letters, BO128 has 0.75 · 0.55 · 0.6 · 0.7 · 0.55, and the second
# reads 0 for O and B for 8, which makes it (0.45 / 0.55)² = 0.67 times as likely.
BEST_FIVE = (
    r"BO128 is 1\.00 .*\nB012B is 0\.67 .*\n(?:\S{5} is 0\.\d\d .*\n){3}(?:.*\n){2}(?:sign.*\n){5}"
)

# With Ada away on Monday and Ben there on Wednesday, her three days are the three others, and
# Cem, who wants Thursday or Friday, has none. That Ben works two days at most is not to blame.
CONTRADICTION = r"""These rules cannot .*
- Ada works at least three days
- Ada is away on Monday
- Ben works on Wednesday
- Cem works exactly one day
- Cem never works before Thursday

Without 'Cem never works before Thursday':
Mon Cem   Tue Ada   Wed Ben   Thu Ada   Fri Ada

(?:.*\n){2}"""

# By hand: Ada has two days already, and Monday; with both rules left out she has Friday as well,
# which is worth one more than Cem.
EXPLAIN = r"""(?:.*\n){2}Why not Ben on Friday\?
Fri Cem → Ben ✗1,2

the answer is worth 12
no output with Fri = Ben obeys the rules
(?:.*\n){5}
Why not Ada on Friday\?
(?:.*\n){3}the best output with Fri = Ada is worth 10: it costs 2
without rules the best with Fri = Ada is worth 13
kept from being best by: Ada works two days at most
kept from being best by: Ada has a long weekend
best without: Ada works two days at most; Ada has a long weekend \(worth 13\)
(?:.*\n){2}
What did the rules change\?
without .*\n(?:.*\n)+hurts accuracy: Ada has a long weekend
never binds: Cem works one day at least
there may be more .*
"""

# What each script prints, but for times and for what may differ from one processor to the next.
ANSWERS = {
    "amortized.py": (
        r"480 inferences, 0 of them solved, .*\n.* the same to the last bit\nlearning .*\n"
    ),
    "best_five.py": BEST_FIVE,
    "contradiction.py": CONTRADICTION,
    "explain.py": EXPLAIN,
    "learn_f1.py": r"learned by .*: F1 0\.[12]\d, .*\nlearned by 1 - F1: F1 0\.5\d, .*\n",
    "learn_to_search.py": (
        r"a beam of 8: [4-7]\d of 100 .*\nthe same, taught: [89]\d of 100 .*, 100 obey the rules\n"
        r"\d+ of 200 answers .*\nthe solver takes .*\n"
    ),
    "own_classifier.py": r".* [1-9]\d* of 500 weeks impossible\n.* 0 of 500 weeks impossible\n",
    "own_task.py": re.escape(OWN_TASK),
    "serve_it.py": (
        r"the first time: Peop, Loc, Live_In; optimal, by certificate\n"
        r"the second time: Peop, Loc, Live_In; optimal, by cache\n2 asked, 0 solved by the engine\n"
    ),
    "soft_rules.py": (
        r"(?:.*\n)+value 1, .*\nbroken rules: none of 1\n\n(?:.*\n)+value 1\.8, .*\n"
        r".*\n✗1 no hike in the rain: broken, costs 0\.7\n\n"
        r"Two verbs cost [1-9]\.\d\d: \[\('N', 'V', 'N'\), \('N', 'V'\)\]\n"
    ),
    "stop_early.py": (
        r"(?:after .*, gap [\d.]+; .*\n){4,5}(?:after .* the best; in truth 0\.0 .*\n)+"
    ),
    "sudoku.py": SUDOKU,
    "what_rules_change.py": (
        r"no rules: .*, [1-9]\d of 200 .*\n(?:rules in .*, 0 of 200 .*\n){2}"
        r"\nwithout rules:\n(?:.*\n)+✗1 .* needs .*\n\nwith them:\n(?:.*\n)+broken rules: none .*\n"
    ),
}
EXTRAS = {"serve_it.py": "uvicorn"}

# What a network learns differs a little from one processor to the next.
NEURAL = re.compile(
    r"words alone: F1 (0\.\d\d), [1-9]\d* impossible outputs\n"
    r"with rules: F1 (0\.\d\d), 0 impossible outputs\n"
    r"pairs and rules: F1 (0\.\d\d), 0 impossible outputs\n"
)


@cache  # of an answer that two tests look at
def printed(path):
    done = subprocess.run(
        [sys.executable, str(path)], check=True, capture_output=True, text=True, timeout=300
    )
    return done.stdout


def test_every_script_has_its_answer_here():
    assert {path.name for path in SCRIPTS} == {*ANSWERS, "neural_tagger.py"}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_titled_by_a_question(path):
    title = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert title
    assert "?" in title.splitlines()[0]


@pytest.mark.parametrize("name", ANSWERS)
def test_a_script_prints_the_answer(name):
    if name in EXTRAS:
        pytest.importorskip(EXTRAS[name])
    assert re.fullmatch(ANSWERS[name], printed(EXAMPLES / name))


@pytest.fixture
def without_extras(tmp_path):
    """Run Python, and what it starts, as if no package of an extra were installed."""
    hidden = dict.fromkeys(["fastapi", "gurobipy", "matplotlib", "redis", "torch", "uvicorn"])
    text = f"import sys\nsys.modules.update({hidden})\n"
    (tmp_path / "sitecustomize.py").write_text(text, encoding="utf-8")
    paths = [str(tmp_path), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )

    return run


@pytest.mark.parametrize(
    ("name", "extra"), [("serve_it.py", "serve"), ("neural_tagger.py", "torch")]
)
def test_a_script_without_its_extra_says_in_one_line_what_to_install(without_extras, name, extra):
    done = without_extras(EXAMPLES / name)
    assert done.returncode != 0
    assert done.stdout == ""
    assert re.fullmatch(rf".*; run: pip install '\.\[{extra}\]'.*\n", done.stderr)


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (("solve", "PROBLEM", "--engine", "gurobi"), "gurobi"),
        (("cache", "info", "redis://localhost"), "redis"),
        (("serve", "MODEL"), "serve"),
    ],
    ids=["solve", "cache", "serve"],
)
def test_a_command_without_its_extra_says_in_one_line_what_to_install(
    without_extras, tmp_path, command, extra
):
    problem, model = tmp_path / "problem.uai", tmp_path / "model"
    problem.write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4 1 1 2 1\n", encoding="utf-8")
    train(Multiclass(("a", "b")), [["x"], ["y"]], ["a", "b"]).save(model)
    names = {"PROBLEM": problem, "MODEL": model}
    done = without_extras("-m", "rote", *(names.get(word, word) for word in command))
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.fullmatch(rf"rote: .*; run: pip install '\.\[{extra}\]'.*\n", done.stderr)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_imports_no_package_of_an_extra_but_its_own(path):
    text = path.read_text(encoding="utf-8")
    imported = set(re.findall(r"^ *(?:import|from) (\w+)", text, re.MULTILINE))
    found = imported - {*sys.stdlib_module_names, "rote"}
    own = {"torch"} if path.name == "neural_tagger.py" else set()
    assert found <= {"numpy", "sklearn", "scipy"} | own


def test_a_sudoku_is_solved():
    *rows, _ = printed(EXAMPLES / "sudoku.py").splitlines()
    digits = [row.split() for row in rows]
    columns = list(zip(*digits, strict=True))
    boxes = [
        [digits[i + k // 3][j + k % 3] for k in range(9)] for i in (0, 3, 6) for j in (0, 3, 6)
    ]
    assert {frozenset(nine) for nine in [*digits, *columns, *boxes]} == {frozenset("123456789")}
    assert "".join(digits[0]).startswith("53")


def test_what_stopped_early_never_promises_too_much():
    for line in printed(EXAMPLES / "stop_early.py").splitlines():
        gap = re.search(r"gap ([\d.]+)", line)
        too_low = re.search(r"in truth ([\d.]+) too low", line)
        assert too_low
        assert float(too_low[1]) <= (float(gap[1]) if gap else 0.0) + 0.1


def test_the_list_of_questions_has_every_script_under_its_own_question():
    table = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (.*\?) \| \[(\w+\.py)\]", table, re.MULTILINE)
    assert {name for _, name in listed} == {path.name for path in SCRIPTS}
    for question, name in listed:
        if name != "own_task.py":  # asks what its own task is about
            assert ast.get_docstring(ast.parse((EXAMPLES / name).read_text())).startswith(question)


def test_a_network_gains_from_rules_and_more_from_pairs():
    pytest.importorskip("torch")
    found = NEURAL.fullmatch(printed(EXAMPLES / "neural_tagger.py"))
    assert found
    alone, ruled, paired = map(float, found.groups())
    assert 0.5 < alone <= ruled <= paired


def test_a_task_of_ones_own_takes_fewer_than_40_lines():
    lines = (EXAMPLES / "own_task.py").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip()]) < 40
