"""Readers of text files: the format, damage, and the real files."""

import gzip
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from papers.data import cmu_seminar, conll2000, up_english_ewt
from papers.data.cmu_seminar import load_cmu_seminar, read_documents, read_splits
from papers.data.conll04 import COUNTS, Conll04, load_conll04, read_sentences, tally
from papers.data.conll04 import read_splits as read_relation_splits
from papers.data.conll2000 import load_conll2000, read_chunked
from papers.data.cora_citations import LABELS as FIELDS
from papers.data.cora_citations import (
    load_cora_citations,
    load_cora_samples,
    read_references,
    read_samples,
    read_unlabeled,
)
from papers.data.nettalk import FILES as SPOKEN
from papers.data.nettalk import PHONEMES, STRESSES, load_nettalk, read_spoken
from papers.data.protein import RESIDUES, load_protein, protein_numbers, read_chains
from papers.data.twitter_pos import FILES as TWEETS
from papers.data.twitter_pos import LABELS as TAGS
from papers.data.twitter_pos import load_twitter_pos, read_tweets
from papers.data.up_english_ewt import Predicate, load_up_english_ewt, read_roles
from rote import DataError, SettingError
from tests.io.damage import damaged, refused
from tests.io.test_conll import SAMPLE as RELATIONS

SEMINARS = """\
# doc talks-1:0
Room\t3\tB-location
12\t3\tI-location

# doc talks-2:0
#\t0\tO
Quill\t1\tB-speaker

# doc talks-3:0
noon\t1\tB-stime

"""
FOLDS = """\
doc\tfold0\tfold1\tfold2\tfold3\tfold4
talks-3:0\ttest\ttest\tunlabeled\t-\tlabeled
talks-1:0\tlabeled\ttest\tunlabeled\ttest\tlabeled
talks-2:0\tunlabeled\tlabeled\ttest\ttest\tlabeled
"""
CHUNKS = "Seven CD B-NP\ngeese NNS I-NP\nleft VBD B-VP\n. . O\n\nWell UH B-INTJ\n\n"
REFERENCES = "Quill\tNNP\tauthor\n.\t.\tauthor\n\nGeese\tNNS\ttitle\n1997\tCD\tdate\n\n"
BARE = "Geese\tNNS\t_\n\nLate\tRB\t_\n\n"
PLACES = ",".join(map(str, range(0, 50, 2)))
WORDS = "oak\to-k\t1<<\nago\txgo\t0>1\n"
CHAINS = "0\tGVT\t_he\n0\tMA\teh\n1\tW\t_\n"
TWEET = "@ada\t@\nlöl\t!\n\n#\t#\n\n"
# Two predicates, one of them an auxiliary; a word that is understood; stray tabs at the ends of
# rows; a sentence without predicates, and one where nobody looked for them.
ROLES = """\
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


class Format(NamedTuple):
    """How a text is read, and a small one."""

    read: Callable[[Path], Any]
    text: str


FORMATS = {
    "seminars": Format(read_documents, SEMINARS),
    "folds": Format(read_splits, FOLDS),
    "chunks": Format(read_chunked, CHUNKS),
    "references": Format(read_references, REFERENCES),
    "bare references": Format(read_unlabeled, BARE),
    "samples": Format(lambda path: read_samples(path, 49), f"0\t{PLACES}\n1\t{PLACES}\n"),
    "words": Format(lambda path: read_spoken(path, 3, "phoneme"), WORDS),
    "chains": Format(read_chains, CHAINS),
    "tweets": Format(read_tweets, TWEET),
    "roles": Format(read_roles, ROLES),
    "relations": Format(read_relation_splits, "3\ttrain\n7\ttest\n"),
}
DIFFERENT = "expected 25 places below 49, all different"


@pytest.fixture
def read(tmp_path):
    """What a reader makes of its text, or of a damaged one."""

    def of(name, text=None):
        path = tmp_path / f"{name}.txt"
        path.write_text(FORMATS[name].text if text is None else text, encoding="utf-8")
        return FORMATS[name].read(path)

    return of


@pytest.fixture
def write(tmp_path):
    """A folder of files, packed where their name says so."""

    def files(texts):
        for name, text in texts.items():
            packed = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
            (tmp_path / name).write_bytes(packed)
        return tmp_path

    return files


@pytest.mark.parametrize(
    ("name", "old", "new", "line", "reason"),
    [
        ("seminars", "# doc talks-2:0\n", "", 5, "expected one line '# doc <id>' before"),
        ("seminars", "talks-2:0", "talks-1:0", 5, "the document 'talks-1:0' is there already"),
        ("seminars", "Room\t3", "Room\tthree", 2, "expected the number of a line, got 'three'"),
        ("seminars", "B-speaker", "B-host", 7, "expected one of B-stime .*got 'B-host'"),
        ("seminars", "12\t3", "12", 3, "expected 3 columns, got 2"),
        ("seminars", "I-location\n\n", "I-location\n", 4, "expected a row or a blank line"),
        ("folds", "fold4", "fold5", 1, "expected the heading"),
        ("folds", "\t-\t", "\ttrain\t", 2, "expected one of labeled, unlabeled, test, -, got"),
        ("folds", "talks-1:0\tlabeled", "talks-1:0", 3, "expected 6 columns, got 5"),
        ("folds", "talks-2:0", "talks-1:0", 4, "the document 'talks-1:0' is there already"),
        ("chunks", "left VBD B-VP", "left VBD", 3, "expected 3 columns, got 2"),
        ("chunks", "left VBD B-VP", "left VBD B-XP", 3, "expected one of B-ADJP .*got 'B-XP'"),
        ("chunks", "Well UH", "Well  UH", 6, "expected 3 columns, got 4"),
        ("references", "NNP\tauthor", "NNP\t_", 1, "expected one of author .*got '_'"),
        ("references", "\tCD", "", 5, "expected 3 columns, got 2"),
        ("bare references", "NNS\t_", "NNS\tauthor", 1, "expected one of _, got 'author'"),
        ("samples", "0\t0", "1\t0", 1, "expected sample 0, got '1'"),
        ("samples", "48\n1", "48,1\n1", 1, DIFFERENT),
        ("samples", "0,2,", "2,2,", 1, DIFFERENT),
        ("samples", "48", "49", 1, DIFFERENT),
        ("samples", "48", "x", 1, DIFFERENT),
        ("samples", f"\t{PLACES}\n1", "\n1", 1, "expected 2 columns, got 1"),
        ("words", "xgo\t0>1", "xg\t0>1", 2, "expected 3 signs as in 'ago', got 'xg'"),
        ("words", "xgo\t0>1", "xgo\t0>", 2, "expected 3 signs as in 'ago', got '0>'"),
        ("words", "xgo", "xg?", 2, r"expected one of ! # .*got '\?'"),
        ("words", "0>1", "0>3", 2, "expected one of 0 1 2 < >, got '3'"),
        ("words", "ago", "Ago", 2, "got 'A'"),
        ("words", "ago\t", "", 2, "expected 3 columns, got 2"),
        ("chains", "0\tMA", "x\tMA", 2, "expected the number of a protein, got 'x'"),
        ("chains", "MA\teh", "MA\teh_", 2, "expected 2 signs as in 'MA', got 'eh_'"),
        ("chains", "MA", "MB", 2, "expected one of A C .*got 'B'"),
        ("chains", "MA\teh", "MA\tec", 2, "expected one of h e _, got 'c'"),
        ("chains", "MA\teh", "MA", 2, "expected 3 columns, got 2"),
        ("tweets", "löl\t!", "löl !", 2, "expected 2 columns, got 1"),
        ("tweets", "löl\t!", "löl\tNN", 2, "got 'NN'"),
        ("tweets", "löl\t!", "\t!", 2, "column 1 is empty"),
        ("roles", "\t_\tARG0", "\tARG0", 3, "expected 2 columns of roles, .*got 1"),
        ("roles", "\t_\tARG0", "\t_\tARG0\t_", 3, "expected 2 columns of roles, .*got 3"),
        ("roles", "\t_\tARG0", "\t\tARG0", 3, "expected _ or a role such as ARG0, got ''"),
        ("roles", "ARG0", "AGENT", 3, "expected _ or a role such as ARG0, got 'AGENT'"),
        ("roles", "leave.01", "leave", 6, "expected _ or a roleset such as go.01, got 'leave'"),
        ("roles", "Plur\t3", "Plur\t4", 3, "expected the head, 0 to 3, got '4'"),
        ("roles", "Plur\t3", "Plur\t_", 3, "expected the head, 0 to 3, got '_'"),
        ("roles", "\n2\thave", "\n4\thave", 4, "expected word 2, got '4'"),
        ("roles", "goose", "", 3, "column 3 is empty"),
        ("roles", "root\t_\t_\t_\t\n", "root\n", 9, "expected 11 columns or more, got 8"),
        ("roles", "1\tOh", "1.1\tOh", 8, "expected a sentence, and no word of it is written"),
        ("relations", "7\ttest", "7 test", 2, "expected a sentence's id, a tab and one of"),
        ("relations", "7\ttest", "7\tvalid", 2, "expected a sentence's id, a tab and one of"),
        ("relations", "7\ttest", "3\ttest", 2, "sentence 3 has a split already"),
    ],
)
def test_a_damaged_file_is_answered_with_its_line_and_a_reason(
    read, tmp_path, name, old, new, line, reason
):
    with refused(tmp_path / f"{name}.txt", line, reason):
        read(name, damaged(FORMATS[name].text, old, new))


def both(name, text):
    return {name.format(part): text for part in ("train", "test")}


FOLDERS = {
    load_cmu_seminar: {"seminars.tsv.gz": SEMINARS, "splits.tsv": FOLDS},
    load_conll04: {"conll04.corp.gz": RELATIONS, "relation_splits.tsv": "3\ttrain\n"},
    load_conll2000: both("{}.txt.gz", CHUNKS),
    load_cora_citations: {
        **{f"{part}.tsv": REFERENCES for part in ("train", "dev", "test")},
        "unlabeled.tsv": BARE,
    },
    load_cora_samples: {"train25_samples.tsv": FORMATS["samples"].text},
    load_nettalk: {
        file: WORDS if columns == 3 else WORDS.replace("\n", "\t0\n")
        for file, columns in SPOKEN.values()
    },
    load_protein: both("protein_{}.tsv.gz", CHAINS),
    load_twitter_pos: dict.fromkeys(TWEETS.values(), TWEET),
    load_up_english_ewt: {f"en_ewt-up-{part}.conllu.gz": ROLES for part in ("dev", "test")},
}


@pytest.mark.parametrize(
    ("load", "found"),
    [
        (load_cmu_seminar, "all documents: 485 expected, 3 found"),
        (load_conll04, "sentences: 5516 expected, 2 found"),
        (load_conll2000, "train sentences: 8936 expected, 2 found; train tokens: "),
        (load_cora_citations, "unlabeled references: 1000 expected, 2 found"),
        (load_cora_samples, "samples: 5 expected, 2 found"),
        (load_nettalk, "full words: 20008 expected, 2 found"),
        (load_protein, "test chains: 17 expected, 3 found"),
        (load_twitter_pos, "daily547 tweets: 547 expected, 2 found"),
        (load_up_english_ewt, "dev sentences: 2002 expected, 3 found"),
    ],
)
def test_another_set_is_not_taken_for_the_real_one(write, load, found):
    folder = write(FOLDERS[load])
    with pytest.raises(DataError, match=found):
        load(folder)
    last = list(FOLDERS[load])[-1]
    (folder / last).unlink()
    with pytest.raises(DataError, match=f"{last}: there is no such file"):
        load(folder)


# -- what is read ----------------------------------------------------------------------------


def test_a_document_is_tokens_with_their_line_and_a_label_each(read):
    documents = read("seminars")
    assert list(documents) == ["talks-1:0", "talks-2:0", "talks-3:0"]
    assert documents["talks-1:0"] == ((("Room", "3"), ("12", "3")), ("B-location", "I-location"))
    assert documents["talks-2:0"].x[0] == ("#", "0")


def test_a_fold_divides_the_documents_in_their_order(write, monkeypatch):
    monkeypatch.setattr(cmu_seminar, "COUNTS", {"all documents": 3})
    data = load_cmu_seminar(write(FOLDERS[load_cmu_seminar]))
    first, second, third = data["all"]
    assert third.y == ("B-stime",)
    assert data.fold(0).parts == {"labeled": (first,), "unlabeled": (second,), "test": (third,)}
    assert data.fold(1)["test"] == (first, third)
    assert data.fold(3).parts == {"labeled": (), "unlabeled": (), "test": (first, second)}
    assert repr(data.fold(4)) == "<DataSet cmu_seminar fold 4 (labeled: 3, unlabeled: 0, test: 0)>"
    for k in (-1, 5):
        with pytest.raises(DataError, match=f"has the folds 0 to 4; got {k}"):
            data.fold(k)


@pytest.mark.parametrize(
    ("file", "cut", "missing"),
    [("splits.tsv", "talks-2", "talks-2:0"), ("seminars.tsv.gz", "# doc talks-3", "talks-3:0")],
)
def test_splits_and_documents_must_be_of_the_same_documents(write, file, cut, missing):
    texts = dict(FOLDERS[load_cmu_seminar])
    texts[file] = texts[file][: texts[file].index(cut)]
    with pytest.raises(DataError, match=f"{file}: the document '{missing}' is missing"):
        load_cmu_seminar(write(texts))


def test_a_split_is_a_part_of_the_corpus(write):
    sentences = read_sentences(write({"sample.corp": RELATIONS}) / "sample.corp")
    corpus = Conll04(sentences, {3: "dev"})
    assert [s.id for s in corpus.split("dev")] == [3]
    assert corpus.split("train") == ()
    with pytest.raises(DataError, match="the splits are train, dev, test, got 'valid'"):
        corpus.split("valid")


def test_tokens_have_columns_and_a_label(read):
    first, second = read("chunks")
    assert first.x == (("Seven", "CD"), ("geese", "NNS"), ("left", "VBD"), (".", "."))
    assert first.y == ("B-NP", "I-NP", "B-VP", "O")
    assert second == ((("Well", "UH"),), ("B-INTJ",))
    first, second = read("references")
    assert first == ((("Quill", "NNP"), (".", ".")), ("author", "author"))
    assert second.y == ("title", "date")
    assert read("bare references") == (((("Geese", "NNS"),), ()), ((("Late", "RB"),), ()))
    assert read("samples") == (tuple(range(0, 50, 2)),) * 2
    assert read("tweets") == (((("@ada",), ("löl",)), ("@", "!")), ((("#",),), ("#",)))
    assert dict(read("relations")) == {3: "train", 7: "test"}


@pytest.mark.parametrize(("file", "columns"), SPOKEN.values())
def test_a_word_is_letters_and_a_phoneme_or_a_stress_each(write, file, columns):
    path = write(FOLDERS[load_nettalk]) / file
    letters = ((("o",), ("a",), ("k",)), (("a",), ("g",), ("o",)))
    spoken = read_spoken(path, columns, "phoneme")
    assert spoken == ((letters[0], ("o", "-", "k")), (letters[1], ("x", "g", "o")))
    stressed = read_spoken(path, columns, "stress")
    assert stressed == ((letters[0], ("1", "<", "<")), (letters[1], ("0", ">", "1")))
    with pytest.raises(SettingError, match="output is one of phoneme, stress, got 'sound'"):
        load_nettalk(path.parent, output="sound")


def test_a_chain_is_residues_and_a_label_each_and_known_by_its_protein(read, write):
    first, second, third = read("chains")
    assert first == ((("G",), ("V",), ("T",)), ("_", "h", "e"))
    assert second == ((("M",), ("A",)), ("e", "h"))
    assert third == ((("W",),), ("_",))
    folder = write({**FOLDERS[load_protein], "protein_test.tsv.gz": "7\tW\t_\n"})
    assert protein_numbers(folder) == {"train": (0, 0, 1), "test": (7,)}


def test_there_is_one_example_per_predicate_with_a_role_for_each_word(read):
    first, second, third = read("roles")
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
    folder = write(FOLDERS[load_up_english_ewt])
    assert [e.x.roleset for e in load_up_english_ewt(folder)["dev"]] == ["leave.01"]
    every = load_up_english_ewt(folder, auxiliaries=True)
    assert [e.x.roleset for e in every["test"]] == ["have.01", "leave.01"]


# -- the real files --------------------------------------------------------------------------

load_once = cache(lambda load, **options: load(**options))
REAL = [
    (load_conll2000, {}, {"fit": 8000, "dev": 936, "train": 8936, "test": 2012}),
    (load_cora_citations, {}, {"train": 300, "dev": 100, "test": 100, "unlabeled": 1000}),
    (load_nettalk, {"output": "phoneme"}, {"train": 1000, "test": 1000, "full": 20008}),
    (load_nettalk, {"output": "stress"}, {"train": 1000, "test": 1000, "full": 20008}),
    (load_protein, {}, {"train": 111, "test": 17}),
    (load_twitter_pos, {}, {"train": 1000, "dev": 327, "test": 500, "daily547": 547}),
    (load_up_english_ewt, {}, {"dev": 4977 - 577, "test": 4799 - 558}),
]


@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize(("load", "options", "sizes"), REAL)
def test_real_parts_have_their_sizes_and_a_label_for_each_token(load, options, sizes):
    data = load_once(load, **options)
    assert {part: len(examples) for part, examples in data.parts.items()} == sizes
    for part in sizes:
        for x, y in data[part]:
            assert len(y) == len(getattr(x, "words", x)) or part == "unlabeled"


@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize(
    ("load", "options", "part", "labels"),
    [
        (load_cora_citations, {}, "train", FIELDS),
        (load_nettalk, {"output": "phoneme"}, "full", PHONEMES),
        (load_nettalk, {"output": "stress"}, "full", STRESSES),
        (load_protein, {}, "test", "he_"),
        (load_twitter_pos, {}, "train", TAGS),
        (load_twitter_pos, {}, "daily547", TAGS),
    ],
)
def test_real_parts_have_every_label(load, options, part, labels):
    found = {label for example in load_once(load, **options)[part] for label in example.y}
    assert found == set(labels)


@pytest.mark.usefixtures("real_data")
def test_real_seminars_have_folds_of_25_labelled_documents_and_name_each_slot():
    data = load_cmu_seminar()
    sizes = [[len(examples) for examples in data.fold(k).parts.values()] for k in range(5)]
    assert all(labeled == 25 and sum(fold) == 483 for fold in sizes for labeled in fold[:1])
    assert {unlabeled for _, unlabeled, _ in sizes} == {313, 314}
    assert {test for _, _, test in sizes} == {144, 145}
    fills = Counter(label[2:] for e in data["all"] for label in e.y if label.startswith("B-"))
    assert fills == {"stime": 982, "speaker": 757, "location": 643, "etime": 433}
    assert len(data.splits) == len(data["all"]) == 485


@pytest.mark.usefixtures("real_data")
def test_the_real_corpus_of_relations_has_the_counts_that_are_known_of_it():
    corpus = load_conll04()
    found = tally(corpus)
    assert {name: found[name] for name in COUNTS} == dict(COUNTS)
    related = [s for s in corpus.sentences if s.relations]
    labels = Counter(e.label for s in related for e in s.entities)
    assert labels == {"Peop": 1691, "Loc": 1968, "Org": 984, "Other": 706}
    assert sum(len(s.entities) * (len(s.entities) - 1) for s in related) == 19080
    for sentence in corpus.sentences:
        assert len(sentence.words) == len(sentence.pos)
        ends = [at for e in sentence.entities for at in (e.start, e.stop)]
        assert [0, *ends, len(sentence.words)] == sorted([0, *ends, len(sentence.words)])
    parts = [corpus.split(name) for name in ("train", "dev", "test")]
    assert [len(part) for part in parts] == [910, 243, 288]
    assert sum(len(s.relations) for s in parts[0]) == 1273
    assert {s.id for part in parts for s in part} == {s.id for s in related}


@pytest.mark.usefixtures("real_data")
def test_the_real_chunks_are_whole():
    data = load_once(load_conll2000)
    assert data["fit"] + data["dev"] == data["train"]
    counts = Counter(y for part in ("train", "test") for example in data[part] for y in example.y)
    assert counts.keys() == set(conll2000.LABELS)
    assert (counts["B-NP"], counts["I-LST"], counts["O"]) == (67503, 2, 34082)
    for example in (*data["train"], *data["test"]):  # I-X follows B-X or I-X, always
        for before, label in zip(("O", *example.y), example.y, strict=False):
            assert not label.startswith("I-") or before[2:] == label[2:]


@pytest.mark.usefixtures("real_data")
def test_the_real_references_do_not_overlap_and_have_samples():
    data = load_once(load_cora_citations)
    assert {example.y for example in data["unlabeled"]} == {()}
    assert len({example.x for example in data["unlabeled"]}) == 978
    train, dev, test = ({example.x for example in data[p]} for p in ("train", "dev", "test"))
    assert train.isdisjoint(dev)
    assert test.isdisjoint(train | dev)
    assert len(test) == 99  # one reference stands there twice
    samples = load_cora_samples()
    assert [len(sample) for sample in samples] == [25] * 5
    assert samples[0][:3] == (13, 41, 51)
    assert max(max(sample) for sample in samples) < len(data["train"])


@pytest.mark.usefixtures("real_data")
def test_the_real_words_chains_tweets_and_roles_are_as_published():
    for output, spoken in (("phoneme", "a-rdvark"), ("stress", "1<<<>2<<")):
        words = dict(load_once(load_nettalk, output=output)["full"])
        assert "".join(words[tuple((letter,) for letter in "aardvark")]) == spoken
    assert (len(PHONEMES), len(STRESSES)) == (51, 5)
    chains = load_once(load_protein)
    labels = Counter(label for e in chains["test"] for label in e.y)
    assert labels == {"h": 849, "e": 748, "_": 1923}
    assert {residue for e in chains["train"] for (residue,) in e.x} == set(RESIDUES)
    assert "".join(a for (a,) in chains["train"][0].x).startswith("GVGTVPMTDYGND")
    numbers = protein_numbers()
    assert [len(set(numbers[part])) for part in ("train", "test")] == [91, 15]
    assert load_once(load_twitter_pos)["train"][0].x[:3] == (("I",), ("predict",), ("I",))
    roles = load_once(load_up_english_ewt)
    first = roles["dev"][0]
    assert first.x.words == ("From", "the", "AP", "comes", "this", "story", ":")
    assert (first.x.index, first.x.roleset) == (3, "come.03")
    assert first.y == ("_", "_", "ARG2", "V", "_", "ARG1", "_")
    counts = Counter()
    for x, y in (*roles["dev"], *roles["test"]):
        assert -1 <= min(x.heads) <= max(x.heads) < len(y)
        counts.update(y)
    assert counts.keys() > {"_", "V", "ARG0", "ARG1", "ARGM-TMP", "R-ARG0", "C-ARG1"}
    assert counts["ARG1"] > counts["ARG0"] > counts["ARG2"]
