"""From a file to a saved model, and from there to a file of outputs and to scores."""

from __future__ import annotations

import gzip
import json
import lzma
import os
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
from rote.learning import IndependentPerceptron, Perceptron, StructuredSVM
from rote.learning.training import train
from rote.model import Model
from rote.tasks.adapter import adapter_of, adapters
from rote.tasks.entity_relation import EntityRelation
from rote.tasks.multiclass import Multiclass
from rote.tasks.multilabel import MultiLabel
from rote.tasks.tagging import Tagging

TOKENS = "the D\ndog N\nruns V\n\na D\ncat N\n"
FEW = {"templates": ("word[0]",)}
OBJECTS = [
    {"x": ["red"], "y": "stop"},
    {"x": ["green"], "y": "go"},
    {"x": ["red", "dim"], "y": "stop"},
]


def read(path, name="tagging", settings=None):
    adapter = adapter_of(name)
    return adapter.built(adapter.read(path), settings or {})


def test_the_labels_of_a_task_are_those_of_its_file_in_sorted_order(file):
    assert read(file(TOKENS)).labels == ("D", "N", "V")
    assert read(file(OBJECTS), "multiclass") == Multiclass(("go", "stop"))
    sets = [{"x": [], "y": ["b", "c"]}, {"x": [], "y": ["a"]}]
    assert read(file(sets), "multilabel") == MultiLabel(("a", "b", "c"))
    sentence = "0\tPeop\t0\tO\tNNP\tAda\tO\tO\tO\n\n\n"
    assert read(file(sentence), "entity-relation") == EntityRelation()


def test_entities_and_relations_of_ones_own_are_learned_saved_and_predicted(file, tmp_path):
    text = (
        "1\tDrug\t0\tO\tNN\taspirin\tO\tO\tO\n1\tGene\t1\tO\tNN\tCOX1\tO\tO\tO\n\n0\t1\tBlocks\n\n"
        "2\tGene\t0\tO\tNN\tCOX2\tO\tO\tO\n2\tDrug\t1\tO\tNN\tzinc\tO\tO\tO\n\n"
    )
    trained = train_file("entity-relation", file(text), tmp_path / "m")
    task = EntityRelation(("Drug", "Gene"), ("none", "Blocks"), {"Blocks": ("Drug", "Gene")})
    assert trained.model.task == Model.load(tmp_path / "m").task == task
    said = [json.loads(line) for line in predict_file(tmp_path / "m", file(text)).splitlines()]
    assert [each["y"]["relations"] for each in said] == [
        [{"first": 0, "second": 1, "label": "Blocks"}],
        [],
    ]


def test_many_labels_have_no_pairs_unless_they_are_asked_for(file):
    path = file([{"x": [], "y": [f"label {k:02}" for k in range(16)]}])
    assert read(path, "multilabel").pairs == "none"
    assert read(path, "multilabel", {"pairs": "complete"}).pairs == "complete"
    with pytest.raises(SettingError, match="'some'"):
        read(path, "multilabel", {"pairs": "some"})


@pytest.mark.parametrize(
    ("row", "columns", "templates"),
    [
        ("dog N", ("word",), POS_TAGGING),
        ("dog NN N", ("word", "pos"), CHUNKING),
        ("dog NN x N", ("word", "pos", "c2"), (*CHUNKING, "c2[-1]", "c2[0]", "c2[1]")),
    ],
)
def test_columns_and_templates_have_defaults_by_the_number_of_columns(
    file, row, columns, templates
):
    assert read(file(row)) == Tagging(("N",), Templates(columns, templates))


def test_what_a_tagging_is_given_wins(file):
    settings = {
        "order": 2,
        "bio": True,
        "columns": ("form", "tag"),
        "templates": ("form[0]|tag[1]",),
    }
    assert read(file("dog NN B-N"), settings=settings) == Tagging(
        ("B-N",), Templates(("form", "tag"), ("form[0]|tag[1]",)), order=2, bio=True
    )


def test_columns_that_are_not_as_many_as_the_file_has_are_refused(file):
    with pytest.raises(SettingError, match=r"train\.txt, which is the label: 1; got word, pos"):
        read(file(TOKENS), settings={"columns": ("word", "pos")})


@pytest.mark.parametrize(
    ("name", "content", "settings"),
    [
        ("multiclass", OBJECTS, {"bio": True}),
        ("multiclass", OBJECTS, {"order": 0}),
        ("tagging", TOKENS, {"pairs": "none"}),
        ("entity-relation", "0\tO\t0\tO\tUH\tOh\tO\tO\tO\n\n\n", {"columns": ("a",)}),
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
    trained = train_file(
        "tagging",
        file(TOKENS),
        tmp_path / "deep" / "model",
        settings=FEW,
        learner=IndependentPerceptron(iterations=3),
        engine=Exhaustive(),
    )
    xs = ((("the",), ("dog",), ("runs",)), (("a",), ("cat",)))
    ys = (("D", "N", "V"), ("D", "N"))
    task = Tagging(("D", "N", "V"), Templates(("word",), ("word[0]",)))
    expected = train(task, xs, ys, learner=IndependentPerceptron(iterations=3))
    loaded = Model.load(tmp_path / "deep" / "model")
    for model in (trained.model, loaded):
        assert model.task == task
        assert model.engine == Exhaustive()
        np.testing.assert_array_equal(model.weights, expected.weights)
    assert (trained.examples, trained.features, trained.dev) == (2, 5, None)
    assert trained.seconds > 0


def test_held_out_examples_are_read_and_checked_before_learning(file, tmp_path):
    dev = file("the N\n", "dev.txt")
    options = {"settings": FEW, "learner": IndependentPerceptron(iterations=1)}
    trained = train_file("tagging", file(TOKENS), tmp_path / "m", dev=dev, **options)
    assert trained.dev.numbers["token accuracy"] == 0.0
    dev = file("the X\n", "dev.txt")
    with pytest.raises(LabelError, match=r"dev\.txt, line 1: 'X'"):
        train_file("tagging", file(TOKENS), tmp_path / "n", dev=dev, **options)
    assert not (tmp_path / "n").exists()
    trained = train_file(
        "tagging", file(TOKENS), tmp_path / "n", dev=dev, allow_unknown=True, **options
    )
    assert trained.dev.numbers["token accuracy"] == 0.0


def test_outputs_that_break_a_rule_are_refused_unless_allowed(file, tmp_path):
    path = file("b O\n\na I-X\n\nc B-X\n")
    options = {"settings": {"bio": True}, "learner": IndependentPerceptron(iterations=1)}
    with pytest.raises(LabelError, match=r"begins in line 3: the output breaks the rule"):
        train_file("tagging", path, tmp_path / "m", **options)
    assert not (tmp_path / "m").exists()


def test_a_place_where_no_model_can_be_saved_is_refused_before_learning(file, tmp_path):
    def never(*_: object) -> None:
        pytest.fail("learning began")

    class Eager:
        iterate = never

    path = file(TOKENS)
    for folder in (path, path / "model"):
        with pytest.raises(ModelError, match="a model cannot be saved there"):
            train_file("tagging", path, folder, settings=FEW, learner=Eager())


def test_a_training_goes_on_from_its_checkpoint(file, tmp_path):
    path, checkpoint = file(TOKENS), tmp_path / "state"
    options = {"settings": FEW, "checkpoint": checkpoint}
    train_file("tagging", path, tmp_path / "m", learner=Perceptron(iterations=1), **options)
    resumed = train_file(
        "tagging", path, tmp_path / "m", learner=Perceptron(iterations=2), resume=True, **options
    )
    whole = train_file(
        "tagging", path, tmp_path / "n", settings=FEW, learner=Perceptron(iterations=2)
    )
    assert resumed.model.weights.tobytes() == whole.model.weights.tobytes()


def test_outputs_of_a_file_are_those_of_the_model(file, tmp_path):
    train_file(
        "tagging",
        file(TOKENS),
        tmp_path / "m",
        settings=FEW,
        learner=IndependentPerceptron(iterations=5),
    )
    text = predict_file(tmp_path / "m", file("a\ndog\n\nruns\n", "new.txt"))
    assert text == "a D\ndog N\n\nruns V\n"
    assert predict_file(tmp_path / "m", file("", "new.txt")) == ""


def test_inputs_that_do_not_fit_the_model_are_refused_with_the_file(file, tmp_path):
    train_file(
        "multiclass", file(OBJECTS), tmp_path / "m", learner=IndependentPerceptron(iterations=1)
    )
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


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_outputs("a\n", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "a\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_a_pipe_is_written_into_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_outputs("a\n", pipe)
        assert os.read(reader, 10) == b"a\n"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


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
        def predict(self, xs):
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


OPTIONS = {"settings": {"order": 0, "templates": ("word[0]",)}, "learner": IndependentPerceptron()}
SENTENCES = """0\tPeop\t0\tO\tNNP\tAda\tO\tO\tO
0\tO\t1\tO\tIN\tin\tO\tO\tO
0\tLoc\t2\tO\tNNP\tRome\tO\tO\tO

0\t2\tLive_In

"""


@pytest.fixture
def chunker(file, tmp_path):
    """A model that knows three words by heart."""
    train_file("tagging", file("a B-X\nb I-X\nc O\n", "train"), tmp_path / "chunks", **OPTIONS)
    return tmp_path / "chunks"


def test_chunks_are_scored_beside_tokens_and_sequences(chunker, file):
    # It says B I O and B O: two chunks, both right, and there are three.
    scores = evaluate_file(chunker, file("a B-X\nb I-X\nc O\n\na B-X\nc B-X\n", "test"))
    assert (scores.task, scores.examples) == ("tagging", 2)
    assert scores.numbers == pytest.approx(
        {"token accuracy": 4 / 5, "exact match": 1 / 2, "chunk F1": 4 / 5}
    )
    assert scores.tables["chunks"].by_label["X"].right == 2


def test_labels_that_are_no_chunks_have_no_chunk_scores(file, tmp_path):
    train_file("tagging", file("a D\nb N\nc O\n", "train"), tmp_path / "m", **OPTIONS)
    scores = evaluate_file(tmp_path / "m", file("a D\nb D\n", "test"))
    assert scores.numbers == {"token accuracy": 0.5, "exact match": 0.0}
    assert scores.tables == {}
    train_file("tagging", file("a O\n", "train"), tmp_path / "m", **OPTIONS)
    assert "chunk F1" not in evaluate_file(tmp_path / "m", file("a O\n", "test")).numbers


def test_an_unknown_label_is_refused_or_missed(chunker, file):
    path = file("a B-X\nb I-X\nc B-Y\n", "test")
    with pytest.raises(LabelError, match="line 3: 'B-Y' is not a label"):
        evaluate_file(chunker, path)
    scores = evaluate_file(chunker, path, allow_unknown=True)
    assert scores.numbers["token accuracy"] == pytest.approx(2 / 3)
    assert scores.tables["chunks"].by_label["Y"].true == 1


def test_entities_and_relations_are_scored(file, tmp_path):
    train_file(
        "entity-relation", file(SENTENCES, "train"), tmp_path / "m", learner=IndependentPerceptron()
    )
    scores = evaluate_file(tmp_path / "m", file(SENTENCES, "test"))
    assert scores.numbers == {
        "entity F1": 1.0,
        "relation F1": 1.0,
        "relation F1, strict": 1.0,
        "exact match": 1.0,
    }
    wrong = SENTENCES.replace("Peop", "Org").replace("Live_In", "OrgBased_In")
    scores = evaluate_file(tmp_path / "m", file(wrong, "test"))
    assert scores.numbers["entity F1"] == 0.5
    assert scores.numbers["relation F1"] == 0.0
    assert scores.numbers["exact match"] == 0.0
    assert set(scores.tables["relations"].by_label) == {"Live_In", "OrgBased_In"}


def test_sets_of_labels_are_scored_with_the_names_of_labels(file, tmp_path):
    train = [{"x": ["r"], "y": ["red"]}, {"x": ["b"], "y": ["big"]}, {"x": [], "y": []}]
    learner = StructuredSVM(C=10.0)
    train_file("multilabel", file(train, "train"), tmp_path / "m", learner=learner)
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


def test_single_labels_are_scored(file, tmp_path):
    train = [{"x": ["r"], "y": "red"}, {"x": ["b"], "y": "big"}]
    train_file("multiclass", file(train, "train"), tmp_path / "m", learner=IndependentPerceptron())
    test = [*train, {"x": ["b"], "y": "red"}, {"x": ["r"], "y": "red"}]
    scores = evaluate_file(tmp_path / "m", file(test, "test"))
    assert scores.numbers == pytest.approx({"accuracy": 3 / 4, "macro F1": (4 / 5 + 2 / 3) / 2})


def test_scores_become_json(chunker, file):
    record = evaluate_file(chunker, file("a B-X\nc O\n", "test")).record()
    assert json.loads(json.dumps(record)) == record
    assert record["scores"]["chunk F1"] == 1.0
    assert record["tables"]["chunks"]["by_label"]["X"]["true"] == 1


def test_what_cannot_be_evaluated_is_refused(chunker, file, tmp_path):
    with pytest.raises(DataError, match="no examples"):
        evaluate_file(chunker, file("", "test"))
    with pytest.raises(DataError, match="no outputs"):
        evaluate_file(chunker, file("a\n", "test"))
    with pytest.raises(ModelError, match="there is no such file"):
        evaluate_file(tmp_path / "nowhere", file("a O\n", "test"))


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
    "multilabel": (
        [{"x": ["r"], "y": ["red"]}, {"x": ["b"], "y": ["big"]}, {"x": ["b", "r"], "y": ["red"]}],
        "at most 1 label is on",
    ),
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


def test_an_example_that_breaks_a_rule_of_a_file_is_named(file, tmp_path):
    rules = file("verbs end: if token i is V then token i+1 is N\n", "rules")
    path = file("a D\n\nb V\nc D\nd N\n")
    with pytest.raises(LabelError, match=r"begins in line 3: the output breaks .*verbs end, i=0"):
        train_file(
            "tagging",
            path,
            tmp_path / "m",
            rules=rules,
            learner=IndependentPerceptron(iterations=1),
        )


def test_a_checkpoint_knows_its_rules(file, tmp_path):
    options = {
        "settings": FEW,
        "checkpoint": tmp_path / "state",
        "learner": IndependentPerceptron(iterations=1),
    }
    path = file(TOKENS)
    train_file("tagging", path, tmp_path / "m", rules=file("token i is D | N | V", "r"), **options)
    other = file("not token first is V", "r")
    with pytest.raises(ModelError, match="is of another training"):
        train_file("tagging", path, tmp_path / "m", rules=other, **options)


def test_symmetric_relations_are_learned_in_both_directions(file, tmp_path):
    line = {
        "x": {
            "words": ["Ada", "Bo"],
            "entities": [{"start": 0, "stop": 1}, {"start": 1, "stop": 2}],
        },
        "y": {
            "entities": [
                {"start": 0, "stop": 1, "label": "P"},
                {"start": 1, "stop": 2, "label": "P"},
            ],
            "relations": [{"first": 1, "second": 0, "label": "Spouse"}],
        },
    }
    settings = {"symmetric": ("Spouse",)}
    trained = train_file("entity-relation", file([line]), tmp_path / "m", settings=settings)
    assert trained.model.task.arguments == {"Spouse": ("P", "P")}
    said = json.loads(predict_file(tmp_path / "m", file([line])))
    assert said["y"]["relations"] == [{"first": 0, "second": 1, "label": "Spouse"}]
    assert evaluate_file(tmp_path / "m", file([line])).numbers["exact match"] == 1.0


def test_the_standard_input_is_a_file(file, tmp_path, monkeypatch):
    train_file(
        "tagging",
        file(TOKENS),
        tmp_path / "m",
        settings=FEW,
        learner=IndependentPerceptron(iterations=5),
    )
    for text, said in (("a\ndog\n", "a D\ndog N\n"), ("", "")):
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text.encode())))
        assert predict_file(tmp_path / "m", "-") == said
