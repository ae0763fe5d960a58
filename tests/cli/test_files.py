"""From a file to a saved model, and from there to a file of outputs and to scores."""

import gzip
import json
import lzma
from io import BytesIO, TextIOWrapper

import numpy as np
import pytest

from rote import Exhaustive
from rote.cli.files import (
    evaluate_file,
    predict_file,
    predicted,
    read_templates,
    train_file,
    write_outputs,
)
from rote.errors import (
    DataError,
    InfeasibleSpace,
    LabelError,
    ModelError,
    NoSolution,
    RuleError,
    SettingError,
    locate,
)
from rote.features import CHUNKING, POS_TAGGING, Templates
from rote.learning import IndependentPerceptron, StructuredSVM
from rote.learning.training import train
from rote.model import Model
from rote.tasks.adapter import adapter_of, adapters
from rote.tasks.entity_relation import EntityRelation
from rote.tasks.multiclass import Multiclass
from rote.tasks.multilabel import MultiLabel
from rote.tasks.tagging import Tagging

TOKENS = "the D\ndog N\nruns V\n\na D\ncat N\n"
OBJECTS = [
    {"x": ["red"], "y": "stop"},
    {"x": ["green"], "y": "go"},
    {"x": ["red", "dim"], "y": "stop"},
]
SETS = [{"x": ["r"], "y": ["red"]}, {"x": ["b"], "y": ["big"]}, {"x": [], "y": []}]
SENTENCES = """0\tPeop\t0\tO\tNNP\tAda\tO\tO\tO
0\tO\t1\tO\tIN\tin\tO\tO\tO
0\tLoc\t2\tO\tNNP\tRome\tO\tO\tO

0\t2\tLive_In

"""
BLANK_SENTENCE = "0\tO\t0\tO\tUH\tOh\tO\tO\tO\n\n\n"
WORDS = {"order": 0, "templates": ("word[0]",)}


def read(path, name="tagging", settings=None):
    adapter = adapter_of(name)
    return adapter.built(adapter.read(path), settings or {})


@pytest.fixture
def trained(file, tmp_path):
    """Learn a task from what a file has, into the folder "m"."""

    def call(name, content, learner=None, **options):
        if name == "tagging":
            options = {"settings": WORDS, **options}
        learner = learner or IndependentPerceptron(iterations=5)
        return train_file(name, file(content), tmp_path / "m", learner=learner, **options)

    return call


@pytest.mark.parametrize(
    ("name", "content", "task"),
    [
        ("multiclass", OBJECTS, Multiclass(("go", "stop"))),
        ("multilabel", [{"x": [], "y": ["b", "c"]}, *SETS[2:]], MultiLabel(("b", "c"))),
        ("entity-relation", SENTENCES, EntityRelation()),
        ("tagging", "dog N", Tagging(("N",), Templates(("word",), POS_TAGGING))),
        ("tagging", "a B\nc A", Tagging(("A", "B"), Templates(("word",), POS_TAGGING))),
        ("tagging", "dog NN N", Tagging(("N",), Templates(("word", "pos"), CHUNKING))),
        (
            "tagging",
            "dog NN x N",
            Tagging(
                ("N",),
                Templates(("word", "pos", "c2"), (*CHUNKING, "c2[-1]", "c2[0]", "c2[1]")),
            ),
        ),
    ],
)
def test_labels_are_those_of_the_file_and_features_follow_from_its_columns(
    file, name, content, task
):
    assert read(file(content), name) == task


def test_many_labels_have_no_pairs_unless_they_are_asked_for(file):
    path = file([{"x": [], "y": [f"label {k:02}" for k in range(16)]}])
    assert read(path, "multilabel").pairs == "none"
    assert read(path, "multilabel", {"pairs": "complete"}).pairs == "complete"
    with pytest.raises(SettingError, match="'some'"):
        read(path, "multilabel", {"pairs": "some"})


def test_what_a_tagging_is_given_wins(file):
    given = {"order": 2, "bio": True, "columns": ("form", "tag"), "templates": ("form[0]|tag[1]",)}
    assert read(file("dog NN B-N"), settings=given) == Tagging(
        ("B-N",), Templates(("form", "tag"), ("form[0]|tag[1]",)), order=2, bio=True
    )


@pytest.mark.parametrize(
    ("name", "content", "settings"),
    [
        ("multiclass", OBJECTS, {"bio": True}),
        ("multiclass", OBJECTS, {"order": 0}),
        ("tagging", TOKENS, {"pairs": "none"}),
        ("entity-relation", BLANK_SENTENCE, {"columns": ("a",)}),
    ],
)
def test_a_setting_of_another_task_is_refused(file, name, content, settings):
    with pytest.raises(SettingError, match=f"is no setting of {name}"):
        read(file(content), name, settings)


@pytest.mark.parametrize(
    ("name", "content"),
    [("tagging", "\n"), ("multiclass", ""), ("multilabel", [{"x": [], "y": []}])],
)
def test_a_file_from_which_nothing_can_be_learned_is_refused(file, name, content):
    with pytest.raises(DataError, match=r"train\.txt: (there are no examples|no example has)"):
        read(file(content), name)


def test_a_model_of_a_file_is_that_of_its_examples(file, tmp_path):
    folder, learner = tmp_path / "deep" / "model", IndependentPerceptron(iterations=3)
    options = {"settings": {"templates": ("word[0]",)}, "learner": learner, "engine": Exhaustive()}
    trained = train_file("tagging", file(TOKENS), folder, **options)
    xs = ((("the",), ("dog",), ("runs",)), (("a",), ("cat",)))
    ys = (("D", "N", "V"), ("D", "N"))
    task = Tagging(("D", "N", "V"), Templates(("word",), ("word[0]",)))
    expected = train(task, xs, ys, learner=learner)
    for model in (trained.model, Model.load(folder)):
        assert model.task == task
        assert model.engine == Exhaustive()
        np.testing.assert_array_equal(model.weights, expected.weights)
    assert (trained.examples, trained.features, trained.dev) == (2, 5, None)
    assert trained.seconds > 0


def test_held_out_examples_are_read_and_checked_before_learning(trained, file, tmp_path):
    dev = file("the X\n", "dev.txt")
    with pytest.raises(LabelError, match=r"dev\.txt, line 1: 'X'"):
        trained("tagging", TOKENS, dev=dev)
    assert not (tmp_path / "m").exists()
    said = trained("tagging", TOKENS, dev=dev, allow_unknown=True)
    assert said.dev.numbers["token accuracy"] == 0.0
    said = trained("tagging", TOKENS, dev=file("the D\na N\n", "dev.txt"))
    assert said.dev.numbers["token accuracy"] == 0.5


def test_a_place_where_no_model_can_be_saved_is_refused_before_learning(file):
    class Eager:
        def iterate(self, *_: object) -> None:
            pytest.fail("learning began")

    path = file(TOKENS)
    for folder in (path, path / "model"):
        with pytest.raises(ModelError, match="a model cannot be saved there"):
            train_file("tagging", path, folder, settings=WORDS, learner=Eager())


def test_outputs_of_a_file_or_of_the_standard_input_are_those_of_the_model(
    trained, file, tmp_path, monkeypatch
):
    trained("tagging", TOKENS)
    for text, said in (("a\ndog\n\nruns\n", "a D\ndog N\n\nruns V\n"), ("", "")):
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text.encode())))
        assert predict_file(tmp_path / "m", file(text, "new.txt")) == said
        assert predict_file(tmp_path / "m", "-") == said
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"a D\ndog N\n\nruns D\nruns ?\n")))
    assert evaluate_file(tmp_path / "m", "-").numbers["token accuracy"] == 2 / 3


def test_inputs_that_do_not_fit_the_model_are_refused_with_the_file(trained, file, tmp_path):
    trained("multiclass", OBJECTS)
    with pytest.raises(DataError, match=r"new\.txt, the input .* line 1: vectors of kind 'input'"):
        predict_file(tmp_path / "m", file([{"x": [1, 2]}], "new.txt"))


@pytest.mark.parametrize(
    ("name", "opened"), [("o.txt", open), ("o.gz", gzip.open), ("o.xz", lzma.open)]
)
def test_files_are_written_whole_and_compressed_by_their_name(tmp_path, name, opened):
    path = tmp_path / name
    path.write_text("what was there before", encoding="utf-8")
    write_outputs("né\n", path)
    with opened(path, "rb") as file:
        assert file.read() == "né\n".encode()
    assert [other.name for other in tmp_path.iterdir()] == [name]


def test_a_file_that_cannot_be_written_is_refused(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "o.txt"):
        with pytest.raises(DataError, match="cannot be written"):
            write_outputs("a\n", path)


def test_templates_are_read_one_per_line(file):
    assert read_templates(file("word[0]\n\n word[1]|word[0] \r\n")) == (
        "word[0]",
        "word[1]|word[0]",
    )
    with pytest.raises(DataError, match="got none"):
        read_templates(file("\n"))


@pytest.mark.parametrize(
    "error",
    [DataError("odd"), LabelError("odd"), NoSolution("odd"), InfeasibleSpace(["odd"])],
    ids=lambda error: type(error).__name__,
)
def test_whatever_goes_wrong_with_a_file_it_is_named(tmp_path, error):
    file = tmp_path / "new.txt"
    file.write_text("a N\n\nb V\n", encoding="utf-8")
    contents = adapter_of("tagging").read(file)

    class Failing:
        def predict(self, xs, n_jobs, **options):
            raise error

    before = str(error)
    with pytest.raises(type(error)) as raised:
        predicted(Failing(), contents)
    assert str(raised.value) == f"{file}: {before}"
    error.args = (before, *error.args[1:])
    locate(error, "input", 1)
    with pytest.raises(type(error)) as raised:
        predicted(Failing(), contents)
    assert str(raised.value) == f"{file}, the input that begins in line 3: {before}"


def test_chunks_are_scored_beside_tokens_and_sequences(trained, file, tmp_path):
    trained("tagging", "a B-X\nb I-X\nc O\n")
    # It says B I O and B O: two chunks, both right, and there are three.
    scores = evaluate_file(tmp_path / "m", file("a B-X\nb I-X\nc O\n\na B-X\nc B-X\n", "test"))
    assert (scores.task, scores.examples) == ("tagging", 2)
    assert scores.numbers == pytest.approx(
        {"token accuracy": 4 / 5, "exact match": 1 / 2, "chunk F1": 4 / 5}
    )
    assert scores.tables["chunks"].by_label["X"].right == 2
    unknown = file("a B-X\nb I-X\nc B-Y\n", "test")
    with pytest.raises(LabelError, match="line 3: 'B-Y' is not a label"):
        evaluate_file(tmp_path / "m", unknown)
    scores = evaluate_file(tmp_path / "m", unknown, allow_unknown=True)
    assert scores.numbers["token accuracy"] == pytest.approx(2 / 3)
    assert scores.tables["chunks"].by_label["Y"].true == 1
    for content, said in (("", "no examples"), ("a\n", "no outputs")):
        with pytest.raises(DataError, match=said):
            evaluate_file(tmp_path / "m", file(content, "test"))
    with pytest.raises(ModelError, match="there is no such file"):
        evaluate_file(tmp_path / "nowhere", file("a O\n", "test"))


def test_labels_that_are_no_chunks_have_no_chunk_scores(trained, file, tmp_path):
    trained("tagging", "a D\nb N\nc O\n")
    scores = evaluate_file(tmp_path / "m", file("a D\nb D\n", "test"))
    assert scores.numbers == {"token accuracy": 0.5, "exact match": 0.0}
    assert scores.tables == {}
    trained("tagging", "a O\n")
    assert "chunk F1" not in evaluate_file(tmp_path / "m", file("a O\n", "test")).numbers


def test_entities_and_relations_are_scored(trained, file, tmp_path):
    trained("entity-relation", SENTENCES)
    scores = evaluate_file(tmp_path / "m", file(SENTENCES, "test"))
    names = ("entity F1", "relation F1", "relation F1, strict", "exact match")
    assert scores.numbers == dict.fromkeys(names, 1.0)
    wrong = SENTENCES.replace("Peop", "Org").replace("Live_In", "OrgBased_In")
    scores = evaluate_file(tmp_path / "m", file(wrong, "test"))
    assert [scores.numbers[name] for name in names] == [0.5, 0.0, 0.0, 0.0]
    assert set(scores.tables["relations"].by_label) == {"Live_In", "OrgBased_In"}


def test_sets_of_labels_are_scored_with_the_names_of_labels(trained, file, tmp_path):
    trained("multilabel", SETS, StructuredSVM(C=10.0))
    path = file([{"x": ["r"], "y": ["red"]}, {"x": ["b"], "y": ["big", "new"]}], "test")
    with pytest.raises(LabelError, match="line 2: 'new' is not a label"):
        evaluate_file(tmp_path / "m", path)
    scores = evaluate_file(tmp_path / "m", path, allow_unknown=True)
    # It says {red} and {big}; three labels each are to be decided.
    assert scores.numbers == pytest.approx(
        {
            "hamming accuracy": 5 / 6,
            "example F1": (1 + 2 / 3) / 2,
            "example accuracy": (1 + 1 / 2) / 2,
            "exact match": 1 / 2,
            "micro F1": 4 / 5,
            "macro F1": 2 / 3,
        }
    )
    assert list(scores.tables["labels"].by_label) == ["big", "red", "new"]


def test_single_labels_are_scored(trained, file, tmp_path):
    train = [{"x": ["r"], "y": "red"}, {"x": ["b"], "y": "big"}]
    trained("multiclass", train)
    test = [*train, {"x": ["b"], "y": "red"}, {"x": ["r"], "y": "red"}]
    scores = evaluate_file(tmp_path / "m", file(test, "test"))
    assert scores.numbers == pytest.approx({"accuracy": 3 / 4, "macro F1": (4 / 5 + 2 / 3) / 2})


def document(*forms):
    """A sentence whose words are its mentions."""
    mentions = [{"sentence": 0, "start": k, "stop": k + 1} for k in range(len(forms))]
    return {"sentences": [list(forms)], "mentions": mentions}


NODES = [[0.0], [0.1], [1.0], [0.9]]
# A file of each task, and some rules that its outputs obey.
FILES = {
    "tagging": (TOKENS, "if token i is D then token i+1 is N"),
    "entity-relation": (SENTENCES, "if relation i j is Live_In then not entity i is Org"),
    "multiclass": (OBJECTS, "sure: label is stop or label is go"),
    "multilabel": ([*SETS[:2], {"x": ["b", "r"], "y": ["red"]}], "at most 1 label is on"),
    "graph": (
        [
            {"x": {"nodes": NODES, "grid": [2, 2]}, "y": ["land", "land", "sea", "sea"]},
            {"x": {"nodes": NODES[1:3], "edges": [[0, 1]]}, "y": ["land", "sea"]},
        ],
        "at least 1 node is sea",
    ),
    "coreference": (
        [{"x": document("Ada", "she", "Bo"), "y": [[0, 1], [2]]}],
        'mention first is new\nat most 1 mention is "1 back"',
    ),
}


def test_there_is_a_file_of_every_task():
    assert FILES.keys() == {adapter.name for adapter in adapters()}


@pytest.mark.parametrize("name", FILES)
def test_what_was_predicted_is_learned_from_and_evaluated(file, tmp_path, name):
    content, rules = FILES[name]
    path = file(content)
    trained = train_file(name, path, tmp_path / "m", rules=file(rules, "rules"), dev=path)
    task = Model.load(tmp_path / "m").task
    assert task == trained.model.task
    assert task.rules == rules
    read = adapter_of(task).read(path, task)
    assert len(trained.model.task.frame(read.xs[0]).space.rules) > 0
    if name == "tagging":
        path = file(content.replace(" D", "").replace(" N", "").replace(" V", ""), "bare")
    text = predict_file(tmp_path / "m", path)
    again = file(text, "predicted")
    scores = evaluate_file(tmp_path / "m", again)
    assert scores.task == name
    assert set(scores.numbers.values()) == {1.0} or name == "coreference"
    assert trained.dev.numbers.keys() == scores.numbers.keys()
    second = train_file(name, again, tmp_path / "n", rules=file(rules, "rules"))
    assert type(second.model.task) is type(task)
    assert predict_file(tmp_path / "m", again).splitlines()[-1].startswith(text.splitlines()[-1])


@pytest.mark.parametrize("name", FILES)
def test_rules_that_cannot_be_read_are_named_by_their_file_line_and_column(file, tmp_path, name):
    content, rules = FILES[name]
    path = file(f"{rules}\n# and now\nsome of the words\n", "own.rules")
    line = rules.count("\n") + 3
    with pytest.raises(
        RuleError, match=rf"own\.rules, line {line}, column 1: expected the name of"
    ):
        train_file(name, file(content), tmp_path / "m", rules=path)
    assert not (tmp_path / "m").exists()


def test_an_example_that_breaks_a_rule_of_a_file_is_named(trained, file, tmp_path):
    rules = file("verbs end: if token i is V then token i+1 is N\n", "rules")
    with pytest.raises(LabelError, match=r"begins in line 3: the output breaks .*verbs end, i=0"):
        trained("tagging", "a D\n\nb V\nc D\nd N\n", rules=rules)
    assert not (tmp_path / "m").exists()


def test_symmetric_relations_are_learned_in_both_directions(trained, file, tmp_path):
    spans = [{"start": 0, "stop": 1}, {"start": 1, "stop": 2}]
    line = {
        "x": {"words": ["Ada", "Bo"], "entities": spans},
        "y": {
            "entities": [{**span, "label": "P"} for span in spans],
            "relations": [{"first": 1, "second": 0, "label": "Spouse"}],
        },
    }
    said = trained("entity-relation", [line], settings={"symmetric": ("Spouse",)})
    assert said.model.task.arguments == {"Spouse": ("P", "P")}
    found = json.loads(predict_file(tmp_path / "m", file([line])))
    assert found["y"]["relations"] == [{"first": 0, "second": 1, "label": "Spouse"}]
    assert evaluate_file(tmp_path / "m", file([line])).numbers["exact match"] == 1.0
