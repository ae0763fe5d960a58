"""`rote train`, `rote predict`, `rote evaluate` and `rote explain`."""

import json
import re
from pathlib import Path

import pytest

from rote.model import Model
from tests.cli.lines import is_one_line

PAGE = Path(__file__).parent.parent.parent / "docs" / "files.md"
TOKENS = "the DT B-NP\ndog NN I-NP\nruns VB O\n\na DT B-NP\ncat NN I-NP\n"


@pytest.fixture
def chunker(run, tmp_path):
    """A folder with a small model, the file it was learned from, and what was printed."""
    file, model = tmp_path / "train.txt", tmp_path / "model"
    file.write_text(TOKENS, encoding="utf-8")
    options = ("--learner", "perceptron", "--iterations", 5, "--bio", "--dev", file)
    code, printed, wrong = run("train", "tagging", file, "--model", model, *options)
    assert code == 0, wrong
    return model, file, printed


def test_train_tells_what_was_learned_and_predict_and_evaluate_use_it(run, chunker, tmp_path):
    model, file, printed = chunker
    words = [line.split() for line in printed.splitlines()]
    assert ["examples", "2"] in words
    assert ["dev", "chunk", "F1", "1.0"] in words
    assert {"features", "weights", "seconds"} <= {line[0] for line in words}
    new = tmp_path / "new.txt"
    new.write_text("the DT\ncat NN\n\nruns VB\n", encoding="utf-8")
    expected = "the DT B-NP\ncat NN I-NP\n\nruns VB O\n"
    assert run("predict", model, new) == (0, expected, "")
    assert run("predict", model, new, "--jobs", 2) == (0, expected, "")
    code, _, wrong = run("predict", model, new, "--jobs", 0)
    assert (code, "--jobs is a whole number of at least 1" in wrong) == (2, True)
    assert run("predict", model, new, "--out", tmp_path / "out.txt") == (0, "", "")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == expected
    code, printed, _ = run("evaluate", model, file)
    words = [line.split() for line in printed.splitlines()]
    assert code == 0
    assert ["token", "accuracy", "1.0000"] in words
    assert ["NP", "1.0000", "1.0000", "1.0000", "2", "2"] in words
    record = json.loads(run("evaluate", model, file, "--json")[1])
    assert record["scores"] == {"token accuracy": 1.0, "exact match": 1.0, "chunk F1": 1.0}


def test_explain_says_which_rules_forbid_a_label(run, chunker):
    model, file, _ = chunker
    code, printed, wrong = run("explain", model, file, "--input", 1, "--want", "0=I-NP")
    assert (code, wrong) == (0, "")
    assert "no output with 0 = I-NP obeys the rules" in printed
    assert "forbidden by: no I-NP at the start" in printed
    assert "possible without: no I-NP at the start (worth" in printed
    both = ("--want", "0=O", "--want", "1=I-NP", "--json")
    record = json.loads(run("explain", model, file, *both)[1])
    assert record["wanted"] == {"0": "O", "1": "I-NP"}
    assert record["answer"] == {"0": "B-NP", "1": "I-NP", "2": "O"}
    assert record["conflicts"] == [["I-NP at 1 goes on"]]
    assert "no rule is to blame, whichever are left out" in run("explain", model, file)[1]


def test_explain_says_what_each_rule_changes_over_a_file(run, chunker, tmp_path):
    model, file, _ = chunker
    code, printed, wrong = run("explain", model, file, "--rules", "--gold")
    assert (code, wrong) == (0, "")
    assert "rules changed 0 of 2 answers" in printed
    assert "accuracy 1.0000 with all rules, 1.0000 without any" in printed
    assert "never binds: I-NP at # goes on" in printed
    record = json.loads(run("explain", model, file, "--rules", "--by-name", "--json")[1])
    assert "I-NP at 2 goes on" in record["never"]
    assert record["accuracy"] is None
    other = tmp_path / "other.txt"
    other.write_text(TOKENS.replace("VB O", "VB B-VP"), encoding="utf-8")
    code, _, wrong = run("explain", model, other, "--rules", "--gold")
    assert (code, "other.txt, line 3: 'B-VP' is not a label" in wrong) == (2, True)
    left = run("explain", model, other, "--rules", "--gold", "--allow-unknown", "--json")[1]
    assert json.loads(left)["inputs"] == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--want", "0"], "--want is VARIABLE=LABEL, got '0'"),
        (["--want", "9=O"], "no variable is called '9'"),
        (["--input", 2], "there are 2 inputs, counted from 0; got number 2"),
        (["--gold"], "--gold and --by-name belong to --rules"),
        (["--rules", "--want", "0=O"], "--want is about one input"),
        (["--rules", "--limit", 0], "limit is a whole number of at least 1"),
        (["--engine", "greedy", "--want", "0=O"], "rests on answers that are proved"),
    ],
)
def test_what_explain_cannot_do_is_refused(run, chunker, options, said):
    model, file, _ = chunker
    code, _, wrong = run("explain", model, file, *options)
    assert (code, said in wrong) == (2, True), wrong


@pytest.mark.parametrize("learner", ["svm", "perceptron"])
def test_training_and_prediction_with_a_cache_give_the_same(run, tmp_path, learner):
    file, new, store = tmp_path / "train.txt", tmp_path / "new.txt", tmp_path / "cache.db"
    file.write_text(TOKENS * 8, encoding="utf-8")
    new.write_text("the DT\ncat NN\n\nruns VB\n" * 8, encoding="utf-8")
    options = ("--learner", learner, "--iterations", 4, "--bio")
    said = {}
    for name, cache in (("plain", ()), ("kept", ("--cache", store)), ("memory", "--cache memory")):
        cache = cache.split() if isinstance(cache, str) else cache
        model = tmp_path / name
        code, printed, wrong = run("train", "tagging", file, "--model", model, *options, *cache)
        assert code == 0, wrong
        told = dict(line.split(maxsplit=1) for line in printed.splitlines())
        if cache:
            assert int(told["remembered"].split(":")[0]) <= int(told["solved"])
            assert 0 <= int(told["solved"]) <= int(told["inferences"])
            assert int(told["inferences"]) >= 16
            shares = [int(told[name]) for name in ("reused", "warm", "cold")]
            assert sum(shares) == int(told["inferences"])
        (weights,) = model.glob("*.safetensors")
        said[name] = weights.read_bytes(), run("predict", model, new, *cache)
    assert said["kept"] == said["memory"] == said["plain"]
    assert said["plain"][1][0] == 0
    assert store.is_file()
    assert run("cache", "info", store)[0] == 0


def test_a_cache_that_would_slow_down_is_left_empty_and_training_says_so(run, tmp_path):
    file, store = tmp_path / "train.txt", tmp_path / "cache.db"
    file.write_text(TOKENS, encoding="utf-8")
    options = ("--learner", "perceptron", "--iterations", 1, "--cache", store)
    code, printed, wrong = run("train", "tagging", file, "--model", tmp_path / "m", *options)
    assert code == 0, wrong
    told = dict(line.split(maxsplit=1) for line in printed.splitlines())
    assert told["remembered"] == "0: solving is faster than remembering here"
    assert json.loads(run("cache", "info", store, "--json")[1]) == []


@pytest.mark.parametrize("verbose", [(), ("--verbose",)], ids=str)
def test_training_tells_the_dev_score_first_and_all_measures_on_request(run, tmp_path, verbose):
    file, model = tmp_path / "train.txt", tmp_path / "model"
    file.write_text(TOKENS, encoding="utf-8")
    call = ("train", "tagging", file, "--model", model, "--dev", file)
    code, printed, wrong = run(*call, *verbose)
    assert code == 0, wrong
    *lines, last = printed.splitlines()
    assert last == f"saved in {model}; try: rote predict {model} FILE"
    told = {name.strip(): n for name, n in (line.rsplit(maxsplit=1) for line in lines)}
    assert list(told)[:3] == ["dev token accuracy", "dev exact match", "dev chunk F1"]
    assert ("loss" in told, "gap" in told) == (not verbose, bool(verbose))
    if verbose:
        assert told["candidates"].isdecimal()
        assert "e-" not in told["gap"]


def test_rules_of_a_file_hold_in_what_is_predicted(run, tmp_path):
    file, rules, model = tmp_path / "train.txt", tmp_path / "rules", tmp_path / "model"
    file.write_text(TOKENS, encoding="utf-8")
    rules.write_text("# nothing but names\nonly: token i is B-NP | O\n", encoding="utf-8")
    call = ("train", "tagging", file, "--model", model, "--rules", rules)
    code, _, wrong = run(*call)
    assert (code, is_one_line(wrong)) == (2, True)
    assert "breaks the rule" in wrong
    assert run(*call, "--allow-infeasible-gold")[0] == 0
    printed = run("predict", model, file)[1]
    assert {line.split()[-1] for line in printed.splitlines() if line} <= {"B-NP", "O"}
    rules.write_text("only: token i is B-NP\ntoken is O\n", encoding="utf-8")
    code, _, wrong = run(*call)
    assert (code, is_one_line(wrong)) == (2, True)
    assert f"{rules}, line 2, column 7: expected a place" in wrong


@pytest.mark.parametrize(
    ("number", "said"),
    [(9.0, "9"), (-1.04e-17, "0"), (12345678.0, "12345678"), (0.12345678, "0.123457")],
)
def test_a_measure_is_written_for_people(number, said):
    from rote.cli.models import _plain

    assert _plain(number) == said


def test_a_training_that_is_stopped_says_what_is_left(run, tmp_path, monkeypatch):
    from rote.learning import training

    file, model, state = tmp_path / "train.txt", tmp_path / "model", tmp_path / "state"
    file.write_text(TOKENS, encoding="utf-8")
    save_state, written = training.save_state, []

    def stopping(state, *where):
        save_state(state, *where)
        written.append(state.iteration)
        if state.iteration == 2:
            raise SystemError("a kernel returned a result") from KeyboardInterrupt()

    monkeypatch.setattr(training, "save_state", stopping)
    call = ("train", "tagging", file, "--model", model, "--learner", "local")
    code, printed, wrong = run(*call, "--checkpoint", state, "--every", 2)
    assert (code, printed, written) == (130, "", [2])
    assert wrong.endswith(f"stopped; {state} holds iteration 2, go on from there with --resume\n")

    def at_once(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "check_examples", at_once)
    code, printed, wrong = run(*call)
    assert (code, printed) == (130, "")
    assert wrong.endswith("stopped; nothing was saved\n")
    assert not model.exists()


def test_a_checkpoint_of_another_training_is_kept_unless_it_may_be_lost(run, tmp_path):
    file, state = tmp_path / "train.txt", tmp_path / "state"
    file.write_text(TOKENS, encoding="utf-8")
    call = ("train", "tagging", file, "--model", tmp_path / "model", "--checkpoint", state)
    call += ("--learner", "perceptron")
    assert run(*call, "--engine", "exact")[0] == 0
    before = state.read_bytes()
    code, _, wrong = run(*call, "--engine", "greedy")
    assert (code, is_one_line(wrong)) == (2, True)
    assert wrong == (
        f"rote: {state}: is of another training: the engine was Exact and is RGS now; name another "
        "file, or say --overwrite to lose it\n"
    )
    assert state.read_bytes() == before
    assert run(*call, "--engine", "greedy", "--overwrite")[0] == 0
    assert state.read_bytes() != before
    code, _, wrong = run(*call, "--engine", "greedy", "--overwrite", "--resume")
    assert (code, is_one_line(wrong)) == (2, True)


@pytest.mark.parametrize("learner", ["svm", "perceptron", "subgradient"])
def test_training_around_the_right_outputs(run, tmp_path, learner):
    file = tmp_path / "train.txt"
    file.write_text(TOKENS * 4, encoding="utf-8")
    weights = {}
    for name, options in {
        "near": ("--around", 1),
        "kept": ("--around", 1, "--cache", "memory"),
        "far": ("--around", 99),
        "all": (),
    }.items():
        model = tmp_path / name
        code, _, wrong = run(
            "train", "tagging", file, "--model", model, "--learner", learner, "--bio", *options
        )
        assert code == 0, wrong
        (saved,) = model.glob("*.safetensors")
        weights[name] = saved.read_bytes()
        assert run("predict", model, file)[0] == 0
    assert weights["kept"] == weights["near"]
    assert weights["far"] == weights["all"]


def test_options_of_tasks_reach_the_training(run, tmp_path):
    rows = "3\tPeop\t0\tO\tNNP\tAda\tO\tO\tO\n3\tLoc\t1\tO\tNNP\tRome\tO\tO\tO\n\n0\t1\tDwells\n\n"
    graph = {"x": {"nodes": [[1], [0]], "edges": [[0, 1]]}, "y": ["a", "b"]}
    mentions = [{"sentence": 0, "start": k, "stop": k + 1} for k in (0, 2)]
    document = {"x": {"sentences": [["Ada", "and", "she"]], "mentions": mentions}, "y": [[0, 1]]}
    file, model = tmp_path / "train", tmp_path / "model"
    for task, content, options, setting in (
        ("graph", json.dumps(graph), ["--potts"], {"potts": True}),
        ("coreference", json.dumps(document), ["--antecedents", 3], {"max_antecedents": 3}),
        ("entity-relation", rows, [], {"arguments": {"Dwells": ("Peop", "Loc")}}),
    ):
        file.write_text(content, encoding="utf-8")
        code, printed, wrong = run("train", task, file, "--model", model, *options)
        assert code == 0, wrong
        assert ("Dwells(Peop, Loc)" in printed) == (task == "entity-relation")
        saved = Model.load(model).task
        assert {name: getattr(saved, name) for name in setting} == setting


def test_columns_templates_and_a_checkpoint_reach_the_training(run, tmp_path):
    file, templates, model = tmp_path / "a.txt", tmp_path / "templates", tmp_path / "model"
    file.write_text(TOKENS, encoding="utf-8")
    templates.write_text("tag[0]\n", encoding="utf-8")
    options = ("--columns", "form,tag", "--templates", templates, "--order", 0)
    options = (*options, "--learner", "local", "--checkpoint", tmp_path / "state", "--resume")
    for iterations in (1, 2):
        code, printed, wrong = run(
            "train", "tagging", file, "--model", model, *options, "--iterations", iterations
        )
        assert code == 0, wrong
        assert ["features", "3"] in [line.split() for line in printed.splitlines()]
    assert (tmp_path / "state").is_file()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["parsing", "train.txt"], "got 'parsing'"),
        (["tagging", "nowhere.txt"], "nowhere.txt: there is no such file"),
        (["tagging", "."], "cannot be read"),
        (["tagging", "bad.txt"], "bad.txt, line 2: expected 3 columns"),
        (["multiclass", "train.txt"], "train.txt, line 1: expected an object"),
        (["tagging", "train.txt", "--learner", "magic"], "got 'magic'"),
        (["tagging", "train.txt", "--engine", "magic"], "got 'magic'"),
        (["tagging", "train.txt", "--learner", "local", "--C", "1"], "local has no C"),
        (["tagging", "train.txt", "--C", "-1"], "C is a number above 0"),
        (["tagging", "train.txt", "--iterations", "0"], "iterations is a whole number"),
        (["tagging", "train.txt", "--order", "-1"], "order is a whole number"),
        (["tagging", "train.txt", "--columns", "word"], "columns names all but the last"),
        (["tagging", "train.txt", "--columns", "word,1"], "columns is a list of different names"),
        (["tagging", "train.txt", "--templates", "nowhere"], "nowhere: there is no such file"),
        (["tagging", "train.txt", "--templates", "bad.txt"], "template"),
        (["tagging", "train.txt", "--dev", "other.txt"], "other.txt, line 1: 'X' is not a label"),
        (["tagging", "train.txt", "--dev", "nowhere.txt"], "no such file"),
        (["tagging", "train.txt", "--pairs", "none"], "pairs is no setting of tagging"),
        (["tagging", "train.txt", "--resume"], "name it with --checkpoint FILE"),
        (["tagging", "train.txt", "--every", "2"], "name it with --checkpoint FILE"),
        (
            ["tagging", "train.txt", "--checkpoint", "s", "--every", "0"],
            "--every is a whole number",
        ),
        (["tagging", "train.txt", "--checkpoint", "train.txt"], "is left as it is"),
        (["tagging", "train.txt", "--around", "0"], "--around is a whole number of at least 1"),
        (["tagging", "train.txt", "--cache", "cache.txt"], "cache.txt"),
        (["tagging", "train.txt", "--cache", "http://localhost"], "http://localhost"),
        (["tagging", "train.txt", "--seed", "-1"], "seed is a whole number of at least 0"),
        (["tagging", "empty.txt"], "no examples"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_training_that_cannot_be_is_one_line_and_leaves_nothing(
    run, tmp_path, monkeypatch, options, said
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.txt").write_text(TOKENS, encoding="utf-8")
    (tmp_path / "bad.txt").write_text("the DT B-NP\ndog NN\n", encoding="utf-8")
    (tmp_path / "other.txt").write_text("the DT X\n", encoding="utf-8")
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    code, printed, wrong = run("train", *options, "--model", "model")
    assert (code, printed) == (2, "")
    assert is_one_line(wrong)
    assert said in wrong
    assert not (tmp_path / "model").exists()


def test_what_cannot_be_predicted_or_evaluated_is_one_line(run, chunker, tmp_path):
    model, file, _ = chunker
    foreign = tmp_path / "foreign.jsonl"
    foreign.write_text('{"x": ["a", "b", "c"], "y": "a"}\n', encoding="utf-8")
    unknown = tmp_path / "unknown.txt"
    unknown.write_text("the DT B-NP\ndog NN B-VP\n", encoding="utf-8")
    out = tmp_path / "out.txt"
    out.write_text("before", encoding="utf-8")
    for arguments, said in (
        (("predict", tmp_path / "nowhere", file), "nowhere"),
        (("predict", tmp_path, file), "no such file"),
        (("predict", model, tmp_path / "nowhere.txt"), "nowhere.txt: there is no such file"),
        (
            ("predict", model, foreign, "--out", out),
            "foreign.jsonl, line 1: token 0: expected a text for each column",
        ),
        (("predict", model, file, "--out", tmp_path), "cannot be written"),
        (("predict", model, file, "--cache", "sqlite:"), "sqlite:"),
        (
            ("evaluate", model, foreign),
            "foreign.jsonl, line 1: token 0: expected a text for each column",
        ),
        (("evaluate", model, unknown), "unknown.txt, line 2: 'B-VP' is not a label"),
    ):
        code, printed, wrong = run(*arguments)
        assert (code, printed) == (2, "")
        assert is_one_line(wrong)
        assert said in wrong
    assert out.read_text(encoding="utf-8") == "before"
    record = json.loads(run("evaluate", model, unknown, "--allow-unknown", "--json")[1])
    assert record["scores"]["token accuracy"] == 0.5


def test_the_files_that_the_page_shows_are_learned_and_predicted(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    for name, content in re.findall(r"(?ms)^`([\w.-]+)`:\n\n```text\n(.*?)^```$", page):
        Path(name).write_text(content, encoding="utf-8")
    call = r"(?ms)^```sh\n(.*?)^```$\n\n`predict`.*?^```text\n(.*?)^```$"
    calls = re.findall(call, page)
    assert len(calls) == 6
    for commands, shown in calls:
        *before, predict = [line.split()[1:] for line in commands.splitlines()]
        for command in before:
            assert run(*command)[0] == 0
            assert run("evaluate", command[command.index("--model") + 1], command[2])[0] == 0
        assert run(*predict) == (0, shown, "")
