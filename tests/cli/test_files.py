"""From a file to a saved model and from there to a file of outputs."""

from __future__ import annotations

import gzip
import json
import lzma
import os

import numpy as np
import pytest
from rote.learning.files import (
    LEARNERS,
    SETTINGS,
    TaskSettings,
    default_templates,
    learner_of,
    predict_file,
    predicted,
    read_templates,
    task_of,
    train_file,
    write_outputs,
)
from rote.tasks.files import read_examples

from rote import Exhaustive, learning
from rote.errors import (
    DataError,
    InfeasibleSpace,
    LabelError,
    ModelError,
    NoOutput,
    SettingError,
    say_about,
)
from rote.features import CHUNKING, POS_TAGGING, Templates
from rote.learning import Local, Perceptron, StructuredSVM, Subgradient
from rote.learning.training import train
from rote.model import Model
from rote.tasks.entity_relation import EntityRelation
from rote.tasks.multiclass import Multiclass
from rote.tasks.multilabel import MultiLabel
from rote.tasks.tagging import Tagging

TOKENS = "the D\ndog N\nruns V\n\na D\ncat N\n"
FEW = TaskSettings(templates=("word[0]",))
OBJECTS = [
    {"x": ["red"], "y": "stop"},
    {"x": ["green"], "y": "go"},
    {"x": ["red", "dim"], "y": "stop"},
]


def read(path, name="tagging", settings=None):
    return task_of(read_examples(name, path), settings or TaskSettings())


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
    assert [each["relations"] for each in said] == [
        [{"first": 0, "second": 1, "label": "Blocks"}],
        [],
    ]


def test_many_labels_have_no_pairs_unless_they_are_asked_for(file):
    path = file([{"x": [], "y": [f"label {k:02}" for k in range(16)]}])
    assert read(path, "multilabel").pairs == "none"
    assert read(path, "multilabel", TaskSettings(pairs="complete")).pairs == "complete"
    with pytest.raises(SettingError, match="'some'"):
        read(path, "multilabel", TaskSettings(pairs="some"))


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
    settings = TaskSettings(
        order=2, bio=True, columns=("form", "tag"), templates=("form[0]|tag[1]",)
    )
    assert read(file("dog NN B-N"), settings=settings) == Tagging(
        ("B-N",), Templates(("form", "tag"), ("form[0]|tag[1]",)), order=2, bio=True
    )


@pytest.mark.parametrize("columns", [("form",), ("pos", "word"), ("a", "b", "c", "d")])
def test_default_templates_speak_of_the_columns_by_their_own_names(columns):
    templates = default_templates(columns)
    assert Templates(columns, templates).templates == templates
    assert f"{columns[0]}[0]" in templates
    if len(columns) == 1:
        assert "suffix2(lower(form[-1]))" in templates
        assert len(templates) == len(POS_TAGGING)
    else:
        assert f"{columns[0]}[-1]|{columns[0]}[0]" in templates
        assert f"{columns[1]}[-2]|{columns[1]}[-1]|{columns[1]}[0]" in templates
        assert len(templates) == len(CHUNKING) + 3 * (len(columns) - 2)


def test_columns_that_are_not_as_many_as_the_file_has_are_refused(file):
    with pytest.raises(SettingError, match=r"train\.txt, which is the label: 1; got word, pos"):
        read(file(TOKENS), settings=TaskSettings(columns=("word", "pos")))


@pytest.mark.parametrize(
    ("name", "content", "settings"),
    [
        ("multiclass", OBJECTS, TaskSettings(bio=True)),
        ("multiclass", OBJECTS, TaskSettings(order=0)),
        ("tagging", TOKENS, TaskSettings(pairs="none")),
        ("entity-relation", "0\tO\t0\tO\tUH\tOh\tO\tO\tO\n\n\n", TaskSettings(columns=("a",))),
    ],
)
def test_a_setting_of_another_task_is_refused(file, name, content, settings):
    with pytest.raises(SettingError, match=f"is no setting of {name}"):
        read(file(content), name, settings)


def test_every_setting_belongs_to_a_task():
    known = {setting for settings in SETTINGS.values() for setting in settings}
    assert known == set(TaskSettings.__dataclass_fields__)


@pytest.mark.parametrize(
    ("name", "content"),
    [("tagging", "\n"), ("multiclass", ""), ("multilabel", [{"x": [], "y": []}])],
)
def test_a_file_from_which_nothing_can_be_learned_is_refused(file, name, content):
    with pytest.raises(DataError, match=r"train\.txt: (there are no examples|no example has)"):
        read(file(content), name)


def test_every_learner_has_a_name():
    assert set(LEARNERS.values()) == {Local, Perceptron, StructuredSVM, Subgradient}
    learners = {name for name in learning.__all__ if hasattr(getattr(learning, name), "iterate")}
    wrappers = {"Learner", "Staged"}
    assert {make.__name__ for make in LEARNERS.values()} == learners - wrappers


def test_a_learner_takes_the_settings_it_has():
    assert learner_of("svm") == StructuredSVM()
    assert learner_of("svm", C=2.0, iterations=3, seed=4, n_jobs=2) == StructuredSVM(
        C=2.0, iterations=3, seed=4, n_jobs=2
    )
    assert learner_of("subgradient", C=2.0) == Subgradient(C=2.0)
    with pytest.raises(SettingError, match="perceptron has no C"):
        learner_of("perceptron", C=1.0)
    with pytest.raises(SettingError, match="local has no n_jobs"):
        learner_of("local", n_jobs=2)
    with pytest.raises(SettingError, match="one of svm, perceptron, local, subgradient; got 'x'"):
        learner_of("x")


def test_a_model_of_a_file_is_that_of_its_examples(file, tmp_path):
    trained = train_file(
        "tagging",
        file(TOKENS),
        tmp_path / "deep" / "model",
        settings=FEW,
        learner=Local(iterations=3),
        engine=Exhaustive(),
    )
    xs = ((("the",), ("dog",), ("runs",)), (("a",), ("cat",)))
    ys = (("D", "N", "V"), ("D", "N"))
    task = Tagging(("D", "N", "V"), Templates(("word",), ("word[0]",)))
    expected = train(task, xs, ys, learner=Local(iterations=3))
    loaded = Model.load(tmp_path / "deep" / "model")
    for model in (trained.model, loaded):
        assert model.task == task
        assert model.engine == Exhaustive()
        np.testing.assert_array_equal(model.weights, expected.weights)
    assert (trained.examples, trained.features, trained.dev) == (2, 5, None)
    assert trained.seconds > 0


def test_held_out_examples_are_read_and_checked_before_learning(file, tmp_path):
    dev = file("the N\n", "dev.txt")
    options = {"settings": FEW, "learner": Local(iterations=1)}
    trained = train_file("tagging", file(TOKENS), tmp_path / "m", dev=dev, **options)
    assert trained.dev.ys == (("N",),)
    dev = file("the X\n", "dev.txt")
    with pytest.raises(LabelError, match=r"dev\.txt, line 1: 'X'"):
        train_file("tagging", file(TOKENS), tmp_path / "n", dev=dev, **options)
    assert not (tmp_path / "n").exists()
    trained = train_file(
        "tagging", file(TOKENS), tmp_path / "n", dev=dev, allow_unknown=True, **options
    )
    assert trained.dev.ys == (("X",),)


def test_outputs_that_break_a_rule_are_refused_unless_allowed(file, tmp_path):
    path = file("b O\n\na I-X\n\nc B-X\n")
    options = {"settings": TaskSettings(bio=True), "learner": Local(iterations=1)}
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
    train_file("tagging", file(TOKENS), tmp_path / "m", settings=FEW, learner=Local(iterations=5))
    text = predict_file(tmp_path / "m", file("a\ndog\n\nruns\n", "new.txt"))
    assert text == "a D\ndog N\n\nruns V\n"
    assert predict_file(tmp_path / "m", file("", "new.txt")) == ""


def test_inputs_that_do_not_fit_the_model_are_refused_with_the_file(file, tmp_path):
    train_file("multiclass", file(OBJECTS), tmp_path / "m", learner=Local(iterations=1))
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
    [DataError("odd"), LabelError("odd"), NoOutput("odd"), InfeasibleSpace(["odd"])],
    ids=lambda error: type(error).__name__,
)
def test_whatever_goes_wrong_with_a_file_it_is_named(tmp_path, error):
    file = tmp_path / "new.txt"
    file.write_text("a N\n\nb V\n", encoding="utf-8")
    contents = read_examples("tagging", file)

    class Failing:
        def predict(self, xs):
            raise error

    before = str(error)
    with pytest.raises(type(error)) as raised:
        predicted(Failing(), contents)
    assert str(raised.value) == f"{file}: {before}"
    error.args = (before, *error.args[1:])
    say_about(error, "input", 1)
    with pytest.raises(type(error)) as raised:
        predicted(Failing(), contents)
    assert str(raised.value) == f"{file}, the input that begins in line 3: {before}"
