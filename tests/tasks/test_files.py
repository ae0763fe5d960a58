"""Files of examples are read by their format, and outputs go back into the same lines."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import replace

import numpy as np
import pytest
from rote.tasks.files import check_outputs, output_text, read_examples, read_for

from rote.errors import DataError, LabelError, ModelError, SettingError
from rote.features import Templates
from rote.tasks.entity_relation import EntityRelation, Extraction
from rote.tasks.multiclass import Multiclass
from rote.tasks.multilabel import MultiLabel
from rote.tasks.tagging import Tagging
from tests.small_tasks import Order

TASK = Tagging(("D", "N", "V"), Templates(("word", "pos"), ("word[0]",)))
SENTENCES = """0\tPeop\t0\tO\tNNP/NNP\tAda/Hill\tO\tO\tO
0\tO\t1\tO\tVBZ\tlives\tO\tO\tO
0\tLoc\t2\tO\tNNP\tRome\tO\tO\tO

0\t2\tLive_In

1\tO\t0\tO\tUH\tYes\tO\tO\tO


"""


@pytest.fixture
def file(tmp_path):
    def write(content: str, name: str = "examples.txt"):
        path = tmp_path / name
        data = content.encode("utf-8")
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def objects(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
@pytest.mark.parametrize(
    "text",
    [
        "the DT D\ndog NN N\n\nruns VB V\n",
        "the\tDT\tD\ndog\tNN\tN\n\nruns\tVB\tV",
        "\n  the  DT D \r\ndog NN\tN\r\n \r\n\r\nruns VB V\r\n\r\n",
        "\ufeffthe DT D\ndog NN N\n\nruns VB V\n",
    ],
    ids=["blanks", "tabs", "untidy", "marked"],
)
def test_columns_are_apart_by_blanks_or_tabs(file, name, text):
    read = read_examples("tagging", file(text, name))
    assert read.xs == ((("the", "DT"), ("dog", "NN")), (("runs", "VB"),))
    assert read.ys == (("D", "N"), ("V",))
    assert len(read) == 2


def test_in_a_file_with_tabs_a_cell_may_have_blanks(file):
    read = read_examples("tagging", file("New York\tN\n"))
    assert read.xs == ((("New York",),),)


def test_a_blank_of_another_alphabet_is_a_token(file):
    read = read_examples("tagging", file("\u3000 N\n\u00a0 N\n"))
    assert read.xs == ((("\u3000",), ("\u00a0",)),)


def test_for_a_model_the_labels_may_be_left_out(file):
    bare = read_for(TASK, file("the DT\ndog NN\n"))
    assert bare.xs == ((("the", "DT"), ("dog", "NN")),)
    assert bare.ys is None
    assert read_for(TASK, file("the DT D\ndog NN N\n")).ys == (("D", "N"),)


def test_labels_are_added_as_the_last_column_of_the_same_lines(file):
    read = read_for(TASK, file("the DT\n\n\ndog  NN \n"))
    assert output_text(read, [("D",), ("N",)]) == "the DT D\n\n\ndog  NN N\n"
    read = read_for(TASK, file("the\tDT\tD\ndog\tNN\tV\n"))
    assert output_text(read, [("D", "N")]) == "the\tDT\tD\tD\ndog\tNN\tV\tN\n"


def test_what_was_written_is_read_with_the_predicted_labels(file):
    read = read_for(TASK, file("the DT\ndog NN\n\nruns VB\n"))
    outputs = (("D", "N"), ("V",))
    again = read_examples("tagging", file(output_text(read, outputs), "again.txt"))
    assert (again.xs, again.ys) == (read.xs, outputs)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("the\n", "line 1: expected a token and its label at least, got 1 column"),
        ("the DT D\ndog N\n", "line 2: expected 3 columns as in the first row, got 2"),
        ("the D\n\ndog NN N\n", "line 3: expected 2 columns as in the first row, got 3"),
        ("the\tD\n\tN\n", "line 2: column 1 is empty"),
        ("the\tD\ndog\t\n", "line 2: column 2 is empty"),
    ],
)
def test_a_row_that_does_not_fit_is_named_by_its_line(file, text, said):
    with pytest.raises(DataError, match=said):
        read_examples("tagging", file(text))


def test_columns_that_a_model_does_not_have_are_named(file):
    with pytest.raises(DataError, match=r"line 2: expected the columns word, pos.* got 4 columns"):
        read_for(TASK, file("\nthe DT x D\n"))


def test_an_unknown_label_is_named_by_its_line(file):
    read = read_for(TASK, file("the DT D\n\ndog NN N\nsees VB X\n"))
    with pytest.raises(LabelError, match=r"examples\.txt, line 4: 'X' is not a label"):
        check_outputs(read, TASK)
    check_outputs(read, TASK, allow_unknown=True)


def test_examples_without_outputs_and_files_without_examples_are_refused_where_both_are_needed(
    file,
):
    with pytest.raises(DataError, match="add a column with the labels"):
        check_outputs(read_for(TASK, file("the DT\n")), TASK)
    with pytest.raises(DataError, match="add y to every line"):
        check_outputs(read_examples("multiclass", file('{"x": []}\n')), Multiclass(("a",)))
    for text in ("", "\n\n"):
        empty = read_for(TASK, file(text))
        assert output_text(empty, []) == text
        with pytest.raises(DataError, match="no examples"):
            check_outputs(empty, TASK)


def test_sentences_come_with_what_the_corpus_says_of_them(file):
    read = read_examples("entity-relation", file(SENTENCES))
    assert [x.id for x in read.xs] == [0, 1]
    assert read.ys == (
        Extraction(("Peop", "Loc"), {(0, 1): "Live_In"}),
        Extraction((), {}),
    )


def test_extractions_are_written_as_json_lines(file):
    read = read_for(EntityRelation(), file(SENTENCES))
    outputs = [Extraction(("Loc", "Loc"), {(1, 0): "Located_In"}), Extraction((), {})]
    first, second = map(json.loads, output_text(read, outputs).splitlines())
    assert first == {
        "id": 0,
        "words": ["Ada", "Hill", "lives", "Rome"],
        "entities": [
            {"start": 0, "stop": 2, "label": "Loc"},
            {"start": 3, "stop": 4, "label": "Loc"},
        ],
        "relations": [{"first": 1, "second": 0, "label": "Located_In"}],
    }
    assert second == {"id": 1, "words": ["Yes"], "entities": [], "relations": []}


def test_a_label_that_a_task_of_sentences_does_not_know_is_named_by_its_line(file):
    task = EntityRelation(entity_labels=("Peop", "Org"), relation_labels=("none",), arguments={})
    with pytest.raises(LabelError, match="line 1: 'Loc' is no label"):
        check_outputs(read_examples("entity-relation", file(SENTENCES)), task)


@pytest.mark.parametrize(
    ("given", "x"),
    [
        ({"red": 2, "big": 0.5}, {"red": 2.0, "big": 0.5}),
        (["red", "red"], ["red", "red"]),
        ([1, 0.5], np.array([1.0, 0.5])),
    ],
    ids=["values", "names", "numbers"],
)
def test_features_are_values_by_name_or_names_or_numbers(file, given, x):
    read = read_examples("multiclass", file(objects({"x": given, "y": "a"}) + "\n"))
    assert type(read.xs[0]) is type(x)
    np.testing.assert_equal(read.xs[0], x)
    assert read.ys == ("a",)


def test_objects_keep_what_else_they_have_and_get_the_predicted_output(file):
    given = [{"x": ["red"], "y": ["a"], "id": 7}, {"x": [], "y": []}]
    read = read_for(MultiLabel(("a", "b")), file(objects(*given)))
    assert read.ys == (("a",), ())
    written = [json.loads(line) for line in output_text(read, [("b",), ("a", "b")]).splitlines()]
    assert written == [{"x": ["red"], "y": ["b"], "id": 7}, {"x": [], "y": ["a", "b"]}]


def test_letters_of_all_alphabets_are_written_as_they_are(file):
    text = '{"x": ["🍒", "ß"], "y": "rot"}\n'
    assert output_text(read_examples("multiclass", file(text)), ["süß"]) == text.replace(
        "rot", "süß"
    )


def test_objects_may_come_without_outputs(file):
    read = read_examples("multilabel", file(objects({"x": ["red"]}, {"x": ["big"]})))
    assert read.ys is None


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("{", "line 1: expected an object in JSON"),
        ("[" * 100_000, "line 1: expected an object in JSON"),
        ("3", 'line 1: expected an object with "x"'),
        ('{"y": "a"}', 'line 1: expected an object with "x"'),
        ('{"x": "red", "y": "a"}', 'line 1: "x" is an object of features'),
        ('{"x": ["red", 1], "y": "a"}', 'line 1: "x" is an object of features'),
        ('{"x": {"red": "1"}, "y": "a"}', "line 1: the value of a feature is a finite number"),
        ('{"x": {"red": NaN}, "y": "a"}', "line 1: the value of a feature is a finite number"),
        ('{"x": [1e999], "y": "a"}', "line 1: the value of a feature is a finite number"),
        (f'{{"x": [1{"0" * 400}], "y": "a"}}', "the value of a feature is a finite number"),
        ('{"x": [[1]], "y": "a"}', "line 1: the value of a feature is a finite number"),
        ('{"x": [1], "y": "a"}\n\n{"x": [1, 2], "y": "a"}', 'line 3: "x" has 1 numbers'),
        ('{"x": [1], "y": "a"}\n{"x": ["red"], "y": "a"}', 'line 2: "x" is a list of numbers'),
        ('{"x": [1], "y": "a"}\n{"x": [1]}', 'line 2: "y" is in some lines'),
        ('{"x": [1]}\n{"x": [1], "y": "a"}', 'line 2: "y" is in some lines'),
        ('{"x": [1], "y": 3}', 'line 1: "y" is a label in quotes, got 3'),
        ('{"x": [1], "y": ""}', 'line 1: "y" is a label in quotes'),
    ],
)
def test_an_object_that_does_not_fit_is_named_by_its_line(file, lines, said):
    with pytest.raises(DataError) as caught:
        read_examples("multiclass", file(lines + "\n"))
    assert said in str(caught.value)


@pytest.mark.parametrize("y", ['"a"', "[1]", '["a", "a"]', '[""]', "null"])
def test_an_output_that_is_no_set_of_labels_is_refused(file, y):
    with pytest.raises(DataError, match=r'line 1: "y"'):
        read_examples("multilabel", file(f'{{"x": [], "y": {y}}}\n'))


def test_an_unknown_label_of_an_object_is_named_by_its_line(file):
    read = read_examples("multiclass", file(objects({"x": [], "y": "a"}, {"x": [], "y": "b"})))
    with pytest.raises(LabelError, match="line 2: 'b' is not a label"):
        check_outputs(read, Multiclass(("a",)))


def test_tasks_that_have_no_files_are_refused(file, tmp_path):
    with pytest.raises(SettingError, match=r"one of tagging, .* got 'parsing'"):
        read_examples("parsing", file(""))
    with pytest.raises(ModelError, match="this model's task is Order"):
        read_for(Order(), file(""))
    with pytest.raises(ModelError, match="features are a function"):
        read_for(replace(TASK, features=lambda x: x), file(""))
    with pytest.raises(DataError, match="no such file"):
        read_examples("tagging", tmp_path / "nowhere.txt")


def test_there_is_one_output_for_each_input(file):
    read = read_for(TASK, file("the DT\n"))
    with pytest.raises(DataError, match="1 inputs, got 2 outputs"):
        output_text(read, [("D",), ("N",)])


@pytest.mark.skipif("ROTE_DATA" not in os.environ, reason="ROTE_DATA is not set")
def test_the_chunking_corpus_is_read_as_its_own_reader_reads_it():
    from papers.data.conll2000 import load_conll2000
    from papers.data.folder import data_folder

    read = read_examples("tagging", data_folder("conll2000") / "test.txt.gz")
    examples = load_conll2000()["test"]
    assert read.xs == tuple(example.x for example in examples)
    assert read.ys == tuple(example.y for example in examples)
