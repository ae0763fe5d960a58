"""Files of examples are read by their format, and outputs go back into the same lines."""

import gzip
import json
import os
from dataclasses import replace

import numpy as np
import pytest

from rote.datasets import english_sentences
from rote.errors import DataError, InputTooLarge, LabelError, ModelError, SettingError
from rote.features import Templates
from rote.io.conll import Entity
from rote.tasks.adapter import adapter_of, adapters, show
from rote.tasks.coreference import MAX_MENTIONS, Coreference
from rote.tasks.entity_relation import MAX_ENTITIES, EntityRelation, EntityRelationOutput
from rote.tasks.graphs import MAX_NODES, GraphLabelling, grid
from rote.tasks.multiclass import Multiclass
from rote.tasks.multilabel import MultiLabel
from rote.tasks.tagging import MAX_TOKENS, Tagging
from rote.tasks.task import WithoutRules
from tests.small_tasks import Order

WORDS = Tagging(("A",), Templates(("word",), ("word[0]",)))
TAGGED = Tagging(("A",), Templates(("word", "pos"), ("word[0]",)))
SENTENCE, CLASSES = EntityRelation(), Multiclass(("a", "b"))
GRAPH = GraphLabelling(("land", "sea"))
TASK = Tagging(("D", "N", "V"), Templates(("word", "pos"), ("word[0]",)))
SENTENCES = """0\tPeop\t0\tO\tNNP/NNP\tAda/Hill\tO\tO\tO
0\tO\t1\tO\tVBZ\tlives\tO\tO\tO
0\tLoc\t2\tO\tNNP\tRome\tO\tO\tO

0\t2\tLive_In

1\tO\t0\tO\tUH\tYes\tO\tO\tO


"""


def read_examples(name, path):
    return adapter_of(name).read(path)


def read_for(task, path):
    return adapter_of(task).read(path, task)


def output_text(task, read, outputs):
    return adapter_of(task).write(task, read, outputs)


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


@pytest.mark.parametrize(
    ("given", "label", "written"),
    [
        ("the DT\n\n\ndog  NN \n", "N", "the DT D\n\n\ndog  NN N\n"),
        ("the DT D\n\ndog  NN   V \n", "N", "the DT D\n\ndog  NN N\n"),
        ("the\tDT\tD\n\ndog\tNN\tV\n", "N M", "the\tDT\tD\n\ndog\tNN\tN M\n"),
        ("the\tD T \n\ndog\tNN\n", "N", "the\tD T \tD\n\ndog\tNN\tN\n"),
        ("the DT\n\ndog  NN \n", "N M", "the\tDT\tD\n\ndog\tNN\tN M\n"),
    ],
    ids=["bare", "labelled", "labelled with tabs", "bare with tabs", "blanks would cut a label"],
)
def test_predicted_labels_are_the_last_column_of_the_same_lines(file, given, label, written):
    read = read_for(TASK, file(given))
    assert output_text(TASK, read, [("D",), (label,)]) == written


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
        read.check(TASK)
    read.check(TASK, allow_unknown=True)


def test_examples_without_outputs_and_files_without_examples_are_refused_where_both_are_needed(
    file,
):
    with pytest.raises(DataError, match="add a column with the labels"):
        read_for(TASK, file("the DT\n")).check(TASK)
    with pytest.raises(DataError, match="add y to every line"):
        read_examples("multiclass", file('{"x": []}\n')).check(Multiclass(("a",)))
    for text in ("", "\n\n"):
        empty = read_for(TASK, file(text))
        assert output_text(TASK, empty, []) == text
        with pytest.raises(DataError, match="no examples"):
            empty.check(TASK)


def test_extractions_are_written_as_json_lines(file):
    read = read_for(EntityRelation(), file(SENTENCES))
    outputs = [
        EntityRelationOutput(("Loc", "Loc"), {(1, 0): "Located_In"}),
        EntityRelationOutput((), {}),
    ]
    first, second = map(json.loads, output_text(EntityRelation(), read, outputs).splitlines())
    assert first["y"] == {
        "words": ["Ada", "Hill", "lives", "Rome"],
        "entities": [
            {"start": 0, "stop": 2, "label": "Loc"},
            {"start": 3, "stop": 4, "label": "Loc"},
        ],
        "relations": [{"first": 1, "second": 0, "label": "Located_In"}],
    }
    assert first["x"] == {
        "words": ["Ada", "Hill", "lives", "Rome"],
        "pos": ["NNP", "NNP", "VBZ", "NNP"],
        "entities": [{"start": 0, "stop": 2}, {"start": 3, "stop": 4}],
    }
    assert second["id"] == 1
    assert second["y"] == {"words": ["Yes"], "entities": [], "relations": []}


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
    written = [
        json.loads(line)
        for line in output_text(MultiLabel(("a", "b")), read, [("b",), ("a", "b")]).splitlines()
    ]
    assert written == [{"x": ["red"], "y": ["b"], "id": 7}, {"x": [], "y": ["a", "b"]}]


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
        (
            '{"x": [1], "y": "a"}\n{"x": ["red"], "y": "a"}',
            'line 2: "x" has 1 numbers in the first line, got names',
        ),
        ('{"x": [1], "y": "a"}\n{"x": [1]}', 'line 2: "y" is in some lines'),
        ('{"x": [1]}\n{"x": [1], "y": "a"}', 'line 2: "y" is in some lines'),
        ('{"x": [1], "y": 3}', 'line 1: "y" is a text; got 3'),
        ('{"x": [1], "y": ""}', 'line 1: "y" is a text'),
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


def test_tasks_that_have_no_files_are_refused(file, tmp_path):
    with pytest.raises(SettingError, match=r"one of .*, tagging.*; got 'parsing'"):
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
        output_text(TASK, read, [("D",), ("N",)])


@pytest.mark.skipif("ROTE_DATA" not in os.environ, reason="ROTE_DATA is not set")
def test_the_chunking_corpus_is_read_as_its_own_reader_reads_it():
    from papers.data.conll2000 import load_conll2000
    from papers.data.folder import data_folder

    read = read_examples("tagging", data_folder("conll2000") / "test.txt.gz")
    examples = load_conll2000()["test"]
    assert read.xs == tuple(example.x for example in examples)
    assert read.ys == tuple(example.y for example in examples)


def read(task, value):
    return adapter_of(task).input_of(task, value)


@pytest.mark.parametrize(
    ("task", "value", "x"),
    [
        (WORDS, "the  dog\n", (("the",), ("dog",))),
        (WORDS, ["the", "dog"], (("the",), ("dog",))),
        (WORDS, [["the"], ["dog"]], (("the",), ("dog",))),
        (TAGGED, "the D\ndog N\n", (("the", "D"), ("dog", "N"))),
        (TAGGED, "the\tD\n\ndog\tN", (("the", "D"), ("dog", "N"))),
        (TAGGED, [["the", "D"], ["dog", "N"]], (("the", "D"), ("dog", "N"))),
        (TAGGED, [{"pos": "D", "word": "the", "lemma": "the"}], (("the", "D"),)),
        (CLASSES, "red small", ["red", "small"]),
    ],
)
def test_an_input_is_typed_or_a_list(task, value, x):
    assert read(task, value) == x


@pytest.mark.parametrize(
    ("task", "value", "said"),
    [
        (WORDS, 7, "a text or a list of tokens, got 7"),
        (WORDS, " ", "at least one token"),
        (WORDS, ["the", 7], r"token 1: expected a text for each column \(word\), got 7"),
        (WORDS, ["the", ""], "token 1"),
        (WORDS, [["the", "D"]], "token 0"),
        (TAGGED, "the D\ndog", r"token 1: .*\(word, pos\), got \[\"dog\"\]"),
        (TAGGED, ["the"], "token 0"),
        (TAGGED, [{"word": "the"}], r"token 0: expected a text for each column \(word, pos\)"),
        (CLASSES, [1, "red"], "a list of names or a list of numbers"),
        (CLASSES, {"red": float("nan")}, "a finite number"),
        (SENTENCE, 7, "a text with entities in brackets, or an object"),
        (SENTENCE, "Ada lives", "no entities are marked"),
        (SENTENCE, "[] lives", "start 0 and stop 0"),
        (SENTENCE, {"words": "Ada"}, '"words" is a list of texts'),
        (SENTENCE, {"words": ["Ada"]}, '"entities" is a list of objects'),
        (SENTENCE, {"words": ["Ada"], "entities": [[0, 1]]}, '"entities", 0 is an object'),
        (
            SENTENCE,
            {"words": ["Ada"], "POS": ["NNP"], "entities": []},
            'no other keys than words, entities, pos, id, relations; got "POS"',
        ),
        (
            SENTENCE,
            {"words": ["Ada"], "entities": [{"start": 0, "stop": 1, "end": 1}]},
            '"entities", 0 has no other keys than start, stop, label; got "end"',
        ),
        (
            SENTENCE,
            {"words": ["Ada"], "pos": [], "entities": []},
            "one tag per word, 1; got 0",
        ),
        (
            SENTENCE,
            {"words": ["Ada"], "entities": [{"start": 0, "stop": 2}]},
            "ends within the 1 words; got start 0 and stop 2",
        ),
        (
            SENTENCE,
            {"words": ["Ada", "B"], "entities": [{"start": 1, "stop": 2}, {"start": 0, "stop": 1}]},
            "in the order of their words",
        ),
    ],
)
def test_what_cannot_be_read_is_said(task, value, said):
    with pytest.raises(DataError, match=said):
        read(task, value)


def test_brackets_mark_the_same_entities_as_spans():
    typed = read(SENTENCE, "[Ada Byron] lives in[London].")
    assert typed.words == ("Ada", "Byron", "lives", "in", "London", ".")
    assert typed.entities == (Entity(0, 2, ""), Entity(4, 5, ""))
    spans = [{"start": 0, "stop": 2}, {"start": 4, "stop": 5}]
    assert read(SENTENCE, {"words": list(typed.words), "entities": spans}) == typed


def test_a_sentence_keeps_its_tags_and_an_output_is_an_input():
    (x,) = english_sentences(1, 0)
    spans = [{"start": e.start, "stop": e.stop} for e in x.entities]
    again = read(SENTENCE, {"words": list(x.words), "pos": list(x.pos), "entities": spans})
    assert (again.words, again.pos) == (x.words, x.pos)
    assert [(e.start, e.stop) for e in again.entities] == [(e.start, e.stop) for e in x.entities]
    written = adapter_of(SENTENCE).to_json(SENTENCE, x, EntityRelationOutput.of(x))
    assert json.loads(json.dumps(written)) == written
    assert read(SENTENCE, written).entities == again.entities
    assert read(SENTENCE, {"id": 7, **written}).entities == again.entities


@pytest.mark.parametrize(
    ("task", "value"),
    [
        (WORDS, ["a"] * (MAX_TOKENS + 1)),
        (SENTENCE, "[a]" + " a" * MAX_TOKENS),
        (SENTENCE, "[a]" * (MAX_ENTITIES + 1)),
        (GRAPH, {"nodes": [[0]] * (MAX_NODES + 1), "edges": []}),
        (Coreference(), "[a]" * (MAX_MENTIONS + 1)),
    ],
)
def test_an_input_whose_space_would_be_too_large_is_refused(task, value):
    with pytest.raises(InputTooLarge, match="at most"):
        read(task, value)


@pytest.mark.parametrize("task", [WORDS, TAGGED, SENTENCE, CLASSES, GRAPH, Coreference()])
def test_the_example_can_be_typed_and_the_hint_is_a_sentence(task):
    adapter = adapter_of(task)
    example = adapter.example(task)
    assert read(task, json.loads(example) if example.startswith("{") else example)
    assert adapter.hint(task).endswith(".")


@pytest.mark.parametrize("adapter", adapters(), ids=lambda adapter: adapter.name)
def test_every_task_is_read_written_measured_and_served(adapter):
    for name in ("from_json", "output_from_json", "to_json", "build"):
        assert callable(getattr(adapter, name))
    assert adapter_of(adapter.name) is adapter
    assert "rules" in adapter.task.__dataclass_fields__


def test_a_task_without_rules_is_read_and_shown_as_the_task():
    assert adapter_of(WithoutRules(TASK)) is adapter_of(TASK)
    assert show(WithoutRules(TASK), [("the", "DT")], ["D"]).text(20).splitlines()[0] == "the"


GRAPH_LINE = {"x": {"nodes": [[0.5], [1]], "edges": [[0, 1]]}, "y": ["land", "sea"]}
DOCUMENT = {
    "sentences": [["Ada", "lost", "her", "cat"], {"words": ["She", "wept"], "upos": ["PRON", "V"]}],
    "mentions": [
        {"sentence": 0, "start": 0, "stop": 1, "kind": "PER", "form": "PROP", "head": 0},
        {"sentence": 0, "start": 2, "stop": 4},
        {"sentence": 0, "start": 2, "stop": 3},
        {"sentence": 1, "start": 0, "stop": 1},
    ],
    "genre": "tale",
}


def test_graphs_are_nodes_with_edges_or_a_grid(file):
    read_graph = read_examples("graph", file(objects(GRAPH_LINE)))
    assert read_graph.xs[0].edges.tolist() == [[0, 1]]
    assert read_graph.ys == (("land", "sea"),)
    assert json.loads(output_text(GRAPH, read_graph, [np.array([1, 1])])) == {
        **GRAPH_LINE,
        "y": ["sea", "sea"],
    }
    square = read(GRAPH, {"nodes": [[0]] * 4, "grid": [2, 2]})
    assert np.array_equal(square.edges, grid(2, 2))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "an object with nodes"),
        ({"nodes": [[1]], "edges": [], "colour": 1}, 'no other keys .* got "colour"'),
        ({"nodes": [[1]]}, '"edges": .* or "grid"'),
        ({"nodes": [[1]], "edges": [], "grid": [1, 1]}, '"edges": .* or "grid"'),
        ({"nodes": [[1], [1, 2]], "edges": []}, '"nodes" is a list of lists of numbers'),
        ({"nodes": [["1"]], "edges": []}, '"nodes", 0, 0 is a finite number'),
        ({"nodes": [[float("inf")]], "edges": []}, '"nodes", 0, 0 is a finite number'),
        ({"nodes": 3, "edges": []}, '"nodes" is a list of lists of finite numbers'),
        ({"nodes": [[1], [2]], "edges": [[0, 2]]}, "from 0 to 1"),
        ({"nodes": [[1], [2]], "edges": [[0, 0.5]]}, "whole number"),
        ({"nodes": [[1], [2]], "grid": [2]}, "rows and columns"),
        ({"nodes": [[1], [2]], "grid": [2, 2]}, "of all 2 nodes"),
    ],
)
def test_what_is_no_graph_is_said(value, said):
    with pytest.raises(DataError, match=said):
        read(GRAPH, value)


def test_graphs_of_one_file_go_together_and_have_a_label_for_each_node(file):
    other = {"x": {"nodes": [[0, 1]], "edges": []}, "y": ["sea"]}
    with pytest.raises(DataError, match='line 2: a row of "nodes" has 1 numbers'):
        read_examples("graph", file(objects(GRAPH_LINE, other)))
    with pytest.raises(DataError, match='line 1: "y" has a label for each of 2, got 1'):
        read_examples("graph", file(objects({**GRAPH_LINE, "y": ["sea"]})))
    with pytest.raises(LabelError, match="line 1: 'land' is not a label; the labels are sea"):
        read_examples("graph", file(objects(GRAPH_LINE))).check(GraphLabelling(("sea",)))


def test_documents_are_sentences_with_mentions(file):
    line = {"x": DOCUMENT, "y": [[0, 2, 3], [1]]}
    documents = read_examples("coreference", file(objects(line)))
    assert documents.xs[0].text(documents.xs[0].mentions[1]) == "her cat"
    assert documents.xs[0].genre == "tale"
    assert documents.ys == ((frozenset({0, 2, 3}), frozenset({1})),)
    assert json.loads(output_text(Coreference(), documents, documents.ys)) == line
    typed = read(Coreference(), "[Ada] lost [[her] cat]\n\n[She] wept")
    spans = [(m.sentence, m.start, m.stop) for m in documents.xs[0].mentions]
    assert [(m.sentence, m.start, m.stop) for m in typed.mentions] == spans


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sentences": "Ada"}, '"sentences" is a list'),
        ({"sentences": [["Ada", 7]]}, 'sentence 0, "words", 1 is a text; got 7'),
        (
            {"sentences": [{"words": ["Ada"], "upos": []}]},
            "sentence 0: all of words, upos are as long",
        ),
        ({"sentences": [{"words": ["Ada"], "colour": ["red"]}]}, "sentence 0 has no other keys"),
        ({"mentions": [{"sentence": 0, "start": 0}]}, '"mentions", 0, "stop" is a whole number'),
        ({"mentions": [{"sentence": 0, "start": 0, "stop": "1"}]}, '"stop" is a whole number'),
        ({"mentions": [{"sentence": 2, "start": 0, "stop": 1}]}, "mention 0: has words of its"),
        ({"mentions": [{"sentence": 0, "start": 3, "stop": 5}]}, "mention 0: has words of its"),
        ({"mentions": [{"sentence": 0, "start": 0, "stop": 1, "head": 1}]}, "its head is one"),
        ({"mentions": [{"sentence": 0, "start": 0, "stop": 1, "form": "X"}]}, "PROP, NOM or PRON"),
        ({"mentions": DOCUMENT["mentions"][::-1]}, "reading order"),
        ({"genre": 3}, '"genre" is a text'),
    ],
)
def test_what_is_no_document_is_said(change, said):
    with pytest.raises(DataError, match=said):
        read(Coreference(), {**DOCUMENT, **change})


@pytest.mark.parametrize("y", [[0, 1], [["0"]], {}, [[0.5]]])
def test_what_are_no_clusters_is_said(file, y):
    with pytest.raises(DataError, match=r'line 1: "y".* (is|of) .*whole number'):
        read_examples("coreference", file(objects({"x": DOCUMENT, "y": y})))


def test_tokens_of_json_lines_are_lists_or_texts(file):
    lines = [{"x": ["the", "dog"], "y": ["D", "N"]}, {"x": [["runs"]], "y": ["V"], "id": 3}]
    tokens = read_examples("tagging", file(objects(*lines)))
    assert tokens.xs == ((("the",), ("dog",)), (("runs",),))
    assert json.loads(output_text(WORDS, tokens, tokens.ys).splitlines()[1]) == lines[1]
    wide = {"x": [["the", "DT"]], "y": ["D"]}
    with pytest.raises(DataError, match="line 2: a token has 1 texts in the first line, got 2"):
        read_examples("tagging", file(objects(lines[0], wide)))
    with pytest.raises(DataError, match=r"line 1: token 0: expected .*\(word, pos\)"):
        read_for(TASK, file(objects(lines[0])))


def test_a_row_that_begins_with_a_brace_is_no_json(file):
    assert read_examples("tagging", file('{ "\n} "\n')).xs == ((("{",), ("}",)),)


@pytest.mark.parametrize(
    "y",
    [
        3,
        {"entities": [{"start": 0, "stop": 1, "label": "Peop"}]},
        {"entities": [{"start": 0, "stop": 2}, {"start": 3, "stop": 4, "label": "Loc"}]},
        {
            "entities": [
                {"start": 0, "stop": 2, "label": "Peop"},
                {"start": 3, "stop": 4, "label": "Loc"},
            ],
            "relations": [{"first": 0, "label": "Live_In"}],
        },
    ],
)
def test_an_output_of_a_sentence_that_does_not_fit_is_refused(file, y):
    columns = read_for(SENTENCE, file(SENTENCES))
    line = json.loads(output_text(SENTENCE, columns, columns.ys).splitlines()[0])
    assert read_examples("entity-relation", file(objects(line))).ys == columns.ys[:1]
    with pytest.raises(DataError, match='line 1: "y"'):
        read_examples("entity-relation", file(objects({**line, "y": y})))


@pytest.mark.parametrize(
    ("task", "text"),
    [
        (TASK, "the DT\ndog NN\n\nruns VB\n"),
        (TASK, "the DT D\ndog NN N\n\nruns VB V\n"),
        (TASK, "the\tDT\tD\ndog\tN N\tN\n"),
        (TASK, objects({"x": [["the", "DT"]]})),
        (SENTENCE, SENTENCES),
        (CLASSES, objects({"x": ["red"], "y": "a", "id": 3})),
        (CLASSES, objects({"x": [1, 0.5]})),
        (MultiLabel(("a", "b")), objects({"x": {"red": 2}})),
        (GRAPH, objects(GRAPH_LINE)),
        (Coreference(), objects({"x": DOCUMENT})),
    ],
)
def test_what_was_predicted_can_be_trained_on_and_evaluated(file, task, text):
    adapter = adapter_of(task)
    given = adapter.read(file(text), task)
    outputs = tuple(task.decode(x, [0] * len(task.frame(x).space.variables)) for x in given.xs)
    again = file(adapter.write(task, given, outputs), "again.txt")
    for read in (adapter.read(again), adapter.read(again, task)):
        np.testing.assert_equal(
            [task.encode(x, y) for x, y in zip(read.xs, read.ys, strict=True)],
            [task.encode(x, y) for x, y in zip(given.xs, outputs, strict=True)],
        )
        for x, before in zip(read.xs, given.xs, strict=True):
            assert list(map(list, task.vectors(x))) == list(map(list, task.vectors(before)))
        read.check(task)
