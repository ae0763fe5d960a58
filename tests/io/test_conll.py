"""The reader of column files with entities and relations, on a small sample and on damage."""

import pytest

from rote.errors import DataError
from rote.io.conll import Entity, Relation, numbered_sentences
from tests.io.damage import damaged, refused

NAME = "sample.corp"
# Two sentences of our own, with what the corpus has: entities of several words, a comma, a
# lone slash, too few and too many tags, and a sentence without relations.
SAMPLE = """\
3\tPeop\t0\tO\tNNP/NNP\tAda/Quill\tO\tO\tO
3\tO\t1\tO\t,\tCOMMA\tO\tO\tO
3\tOrg\t2\tO\tNNP\tNorth/Sea/Post\tO\tO\tO
3\tO\t3\tO\tIN\tof\tO\tO\tO
3\tLoc\t4\tO\tNNP/NNP\tHull\tO\tO\tO

0\t2\tWork_For
2\t4\tOrgBased_In

7\tO\t0\tO\tNN\t/\tO\tO\tO
7\tOther\t1\tO\tJJ\tDanish\tO\tO\tO


"""


def read_sentences(path):
    return tuple(sentence for _, sentence in numbered_sentences(path))


def own(path):
    return tuple(sentence for _, sentence in numbered_sentences(path, own=True))


def test_a_sentence_has_words_tags_spans_and_relations(write):
    first, second = read_sentences(write(SAMPLE))
    assert first.id == 3
    assert first.words == ("Ada", "Quill", ",", "North", "Sea", "Post", "of", "Hull")
    assert first.pos == ("NNP", "NNP", ",", "NNP", "NNP", "NNP", "IN", "NNP")
    assert first.entities == (Entity(0, 2, "Peop"), Entity(3, 6, "Org"), Entity(7, 8, "Loc"))
    assert [first.text(entity) for entity in first.entities] == [
        "Ada Quill",
        "North Sea Post",
        "Hull",
    ]
    assert first.relations == (Relation(0, 1, "Work_For"), Relation(1, 2, "OrgBased_In"))
    assert (second.id, second.words, second.relations) == (7, ("/", "Danish"), ())


def test_other_line_ends_read_the_same(write):
    plain = read_sentences(write(SAMPLE))
    assert read_sentences(write(SAMPLE.replace("\n", "\r\n"))) == plain


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("3\tO\t1", "4\tO\t1", 2, "expected the id 3 of this sentence, got '4'"),
        ("3\tPeop\t0", "x\tPeop\t0", 1, "expected the id of a sentence, got 'x'"),
        ("3\tO\t1", "3\tO\t2", 2, "expected row 1, got row '2'"),
        ("3\tO\t1", "3\tPerson\t1", 2, "one of Peop, Loc, Org, Other, O, got 'Person'"),
        ("COMMA\tO\tO\tO", "COMMA\tO\tO", 2, "expected 9 columns of a row, got 8"),
        ("North/Sea/Post", "North//Post", 3, "expected words and tags, got 'North//Post'"),
        ("0\t2\tWork_For", "0\tWork_For", 7, "expected 3 columns of a relation, got 2"),
        ("0\t2\tWork_For", "0\t2\tWorks", 7, "expected one of Kill, .*got 'Works'"),
        (
            "0\t2\tWork_For",
            "0\t1\tWork_For",
            7,
            "points at row 1, but sentence 3 has no entity there",
        ),
        ("0\t2\tWork_For", "0\t9\tWork_For", 7, "points at row 9, .*an entity: 0, 2, 4"),
        ("0\t2\tWork_For", "0\t0\tWork_For", 7, "row 0 is related to itself"),
        ("2\t4\tOrgBased_In", "0\t2\tKill", 8, "rows 0 and 2 are related already"),
        (
            "2\t4\tOrgBased_In\n",
            "2\t4\tOrgBased_In\n\n",
            10,
            "9 columns of a row, got a blank line",
        ),
        ("7\tO\t0", "3\tO\t0", 11, "expected the id 3 of this sentence, got '7'"),
        ("Danish\tO\tO\tO\n\n\n", "Danish\tO\tO\tO\n", 11, "the file ends inside sentence 7"),
        ("Danish\tO\tO\tO\n\n\n", "Danish\tO\tO\tO\n\n", 12, "the file ends inside sentence 7"),
        ("3\tPeop\t0", "3\t\t0", 1, "the label is empty"),
    ],
)
def test_a_damaged_file_is_answered_with_its_line_and_a_reason(write, old, new, line, reason):
    path = write(damaged(SAMPLE, old, new))
    with refused(path, line, reason):
        read_sentences(path)


def test_the_end_of_a_file_of_ones_own_is_the_end_of_its_last_sentence(write):
    whole = read_sentences(write(SAMPLE))
    related = SAMPLE.partition("\n7\t")[0].rstrip()
    for ending in ("", "\n", "\n\n"):
        assert own(write(SAMPLE.rstrip() + ending)) == whole
        assert own(write(related + ending)) == whole[:1]


def test_a_file_of_ones_own_may_have_any_labels_and_its_sentences_know_their_lines(write):
    text = SAMPLE.replace("Peop", "Person").replace("Work_For", "Employed By")
    (line, first), (later, _) = numbered_sentences(write(text), own=True)
    assert (line, later) == (1, 10)
    assert first.entities[0] == Entity(0, 2, "Person")
    assert first.relations[0] == Relation(0, 1, "Employed By")


def test_a_file_of_ones_own_may_have_blanks_for_tabs(write):
    assert own(write(SAMPLE.replace("\t", "  "))) == read_sentences(write(SAMPLE))
    with pytest.raises(DataError, match="expected 9 columns of a row, got 1"):
        read_sentences(write(SAMPLE.replace("\t", " ")))


def test_a_sentence_twice_and_an_empty_file_are_data_errors(write):
    with pytest.raises(DataError, match="line 14: sentence 3 is in the file already"):
        read_sentences(write(SAMPLE + SAMPLE))
    with pytest.raises(DataError, match=r"line 1: .*got a blank line"):
        read_sentences(write(""))
