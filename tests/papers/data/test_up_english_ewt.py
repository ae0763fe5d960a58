"""The reader of semantic roles: the format with its oddities, damage, and the real files."""

from __future__ import annotations

import gzip
import os
from collections import Counter

import pytest

from papers.data import up_english_ewt
from papers.data.up_english_ewt import Predicate, load_up_english_ewt, read_roles
from rote import DataError
from tests.io.damage import damaged, refused

# Two predicates, one of them an auxiliary; a word that is understood; stray tabs at the ends of
# rows; a sentence without predicates, and one where nobody looked for them.
SAMPLE = """\
# newdoc id = farm
# text = Geese have left
1\tGeese\tgoose\tNOUN\tNNS\tNumber=Plur\t3\tnsubj\t_\t_\t_\t_\tARG0
2\thave\thave\tAUX\tVBP\t_\t3\taux\t_\t_\thave.01\tV\t_\t
2.1\tgone\tgo\tVERB\tVBN\t_\t_\t_\t_\t_\t\t
3\tleft\tleave\tVERB\tVBN\t_\t0\troot\t_\t_\tleave.01\t_\tV

# text = Oh
1\tOh\toh\tINTJ\tUH\t_\t0\troot\t_\t_\t_\t

# text = Geese
1\tGeese\tgoose\tNOUN\tNNS\t_\t0\troot\t_\t_\t\t

"""


@pytest.fixture
def write(tmp_path):
    def write_files(text=SAMPLE):
        for part in ("dev", "test"):
            path = tmp_path / f"en_ewt-up-{part}.conllu.gz"
            path.write_bytes(gzip.compress(text.encode()))
        return path

    return write_files


def test_there_is_one_example_per_predicate_with_a_role_for_each_word(write):
    first, second, third = read_roles(write())
    assert first.words == ("Geese", "have", "left")
    have, left = first.predicates
    assert left.x == Predicate(
        words=("Geese", "have", "left"),
        lemmas=("goose", "have", "leave"),
        upos=("NOUN", "AUX", "VERB"),
        xpos=("NNS", "VBP", "VBN"),
        heads=(2, 2, -1),
        deprels=("nsubj", "aux", "root"),
        index=2,
        roleset="leave.01",
    )
    assert left.y == ("ARG0", "_", "V")
    assert (have.x.index, have.x.roleset, have.y) == (1, "have.01", ("_", "V", "_"))
    assert (second.annotated, second.predicates) == (True, ())
    assert (third.annotated, third.predicates) == (False, ())


def test_auxiliaries_are_left_out_unless_asked_for(write, monkeypatch):
    monkeypatch.setattr(up_english_ewt, "COUNTS", {"dev sentences": 3, "dev predicates": 2})
    folder = write().parent
    assert [e.x.roleset for e in load_up_english_ewt(folder)["dev"]] == ["leave.01"]
    every = load_up_english_ewt(folder, auxiliaries=True)
    assert [e.x.roleset for e in every["test"]] == ["have.01", "leave.01"]


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("\t_\tARG0", "\tARG0", 3, "expected 2 columns of roles, .*got 1"),
        ("\t_\tARG0", "\t_\tARG0\t_", 3, "expected 2 columns of roles, .*got 3"),
        ("\t_\tARG0", "\t\tARG0", 3, "expected _ or a role such as ARG0, got ''"),
        ("ARG0", "AGENT", 3, "expected _ or a role such as ARG0, got 'AGENT'"),
        ("leave.01", "leave", 6, "expected _ or a roleset such as go.01, got 'leave'"),
        ("NNS\tNumber=Plur\t3", "NNS\tNumber=Plur\t4", 3, "expected the head, 0 to 3, got '4'"),
        ("NNS\tNumber=Plur\t3", "NNS\tNumber=Plur\t_", 3, "expected the head, 0 to 3, got '_'"),
        ("\n2\thave", "\n4\thave", 4, "expected word 2, got '4'"),
        ("goose", "", 3, "column 3 is empty"),
        ("root\t_\t_\t_\t\n", "root\n", 9, "expected 11 columns or more, got 8"),
        ("1\tOh", "1.1\tOh", 8, "expected a sentence, and no word of it is written"),
    ],
)
def test_a_damaged_file_is_answered_with_its_line_and_a_reason(write, old, new, line, reason):
    path = write(damaged(SAMPLE, old, new))
    with refused(path, line, reason):
        read_roles(path)


def test_other_sentences_are_not_taken_for_the_real_ones(write):
    with pytest.raises(DataError, match="dev sentences: 2002 expected, 3 found"):
        load_up_english_ewt(write().parent)


@pytest.fixture(scope="module")
def data():
    if not os.environ.get("ROTE_DATA"):
        pytest.skip("the real set is read where ROTE_DATA names the folder of up_english_ewt/")
    return load_up_english_ewt()


def test_the_real_predicates_are_those_that_are_no_auxiliaries(data):
    assert len(data["dev"]) == 4977 - 577
    assert len(data["test"]) == 4799 - 558
    first = data["dev"][0]
    assert first.x.words == ("From", "the", "AP", "comes", "this", "story", ":")
    assert (first.x.index, first.x.roleset) == (3, "come.03")
    assert first.y == ("_", "_", "ARG2", "V", "_", "ARG1", "_")


def test_the_real_roles_stand_one_for_each_word(data):
    roles = Counter()
    for part in ("dev", "test"):
        for x, y in data[part]:
            assert len(x.words) == len(y)
            assert -1 <= min(x.heads)
            assert max(x.heads) < len(y)
            roles.update(y)
    assert roles.keys() > {"_", "V", "ARG0", "ARG1", "ARGM-TMP", "R-ARG0", "C-ARG1"}
    assert roles["ARG1"] > roles["ARG0"] > roles["ARG2"]
