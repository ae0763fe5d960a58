"""The readers of the two coreference corpora: small samples, damage, and the real corpora."""

import gzip
from functools import cache
from itertools import pairwise

import pytest

from papers.data.coreference import (
    load_gum_coref,
    load_litbank_coref,
    read_gum,
    read_litbank,
    tally,
)
from rote import DataError
from rote.tasks.coreference import Mention
from tests.io.damage import damaged, refused


def columns(document, place, word, marks=""):
    return "\t".join([document, "0", str(place), word, *"________", marks]) + "\n"


# Nested mentions, one of them in the cluster of the mention around it; a word that ends two.
WORDS = "".join(
    [
        "#begin document (tale); part 0\n",
        columns("tale", 0, "The", "(4"),
        columns("tale", 1, "sister"),
        columns("tale", 2, "of"),
        columns("tale", 3, "my", "(7|(9)"),
        columns("tale", 4, "aunt", "7)|4)"),
        columns("tale", 5, "slept", ""),
        "\n",
        columns("tale", 0, "She", "(4)"),
        columns("tale", 1, "snored"),
        "\n",
        "#end document\n",
        "#begin document (song); part 0\n",
        columns("song", 0, "La"),
        "\n",
        "#end document\n",
    ]
)
MENTIONS = """\
tale\tCOP\tT1\tT9
tale\tMENTION\tT3\t0\t3\t0\t4\tmy aunt\tPER\tNOM
tale\tMENTION\tT1\t0\t0\t0\t4\tThe sister of my aunt\tPER\tNOM
tale\tMENTION\tT2\t0\t3\t0\t3\tmy\tPER\tPRON
tale\tMENTION\tT4\t1\t0\t1\t0\tShe\tPER\tPRON
tale\tCOREF\tT1\tSister-4
"""

TOKENS = """\
ad\t0\t0\tBuy\tbuy\tVERB\tVB\t-1\troot
ad\t0\t1\tgreen\tgreen\tADJ\tJJ\t2\tamod
ad\t0\t2\tsoap\tsoap\tNOUN\tNN\t0\tobj
ad\t1\t3\tIt\tit\tPRON\tPRP\t4\tnsubj
ad\t1\t4\tcleans\tclean\tVERB\tVBZ\t-1\troot
memo\t0\t0\tOK\tok\tINTJ\tUH\t-1\troot
"""
MARKED = """\
ad\t0\t3\t3\t3\tobject\tgiv:act\t1
ad\t1\t1\t2\t2\tobject\tnew\t1
"""
DOCUMENTS = "memo\tdev\tletter\t1\t1\t0\t0\nad\ttrain\tnews\t2\t5\t2\t1\n"


@pytest.fixture
def litbank(tmp_path):
    def write_and_read(words=WORDS, mentions=MENTIONS):
        (tmp_path / "words.conll").write_text(words)
        (tmp_path / "mentions.tsv").write_text(mentions)
        return read_litbank(tmp_path / "words.conll", tmp_path / "mentions.tsv")

    return write_and_read


@pytest.fixture
def gum(tmp_path):
    def write_and_read(tokens=TOKENS, mentions=MARKED, documents=DOCUMENTS):
        for name, text in [("tokens", tokens), ("mentions", mentions), ("docs", documents)]:
            (tmp_path / f"{name}.tsv").write_text(text)
        return read_gum(*(tmp_path / f"{name}.tsv" for name in ("tokens", "mentions", "docs")))

    return write_and_read


def test_litbank_gives_mentions_in_reading_order_and_their_clusters(litbank):
    (tale, clusters), (song, none) = litbank()
    assert tale.name == "tale"
    assert [sentence.words for sentence in tale.sentences] == [
        ("The", "sister", "of", "my", "aunt", "slept"),
        ("She", "snored"),
    ]
    assert tale.mentions == (
        Mention(0, 0, 5, "PER", "NOM"),
        Mention(0, 3, 5, "PER", "NOM"),
        Mention(0, 3, 4, "PER", "PRON"),
        Mention(1, 0, 1, "PER", "PRON"),
    )
    assert clusters == (4, 7, 9, 4)
    assert [tale.text(mention) for mention in tale.mentions] == [
        "The sister of my aunt",
        "my aunt",
        "my",
        "She",
    ]
    assert (song.name, song.mentions, none) == ("song", (), ())


def test_a_cluster_may_be_nested_in_itself(litbank):
    (tale, clusters), _ = litbank(WORDS.replace("(7|(9)", "(4|(9)").replace("7)|4)", "4)|4)"))
    assert clusters == (4, 4, 9, 4)
    assert tale.text(tale.mentions[1]) == "my aunt"


def test_gum_gives_words_tags_heads_and_mentions_by_sentence(gum):
    corpus = gum()
    ((ad, clusters),) = corpus["train"]
    assert (ad.name, ad.genre) == ("ad", "news")
    first, second = ad.sentences
    assert first.words == ("Buy", "green", "soap")
    assert first.lemmas == ("buy", "green", "soap")
    assert (first.upos, first.pos) == (("VERB", "ADJ", "NOUN"), ("VB", "JJ", "NN"))
    assert (first.heads, first.relations) == ((-1, 2, 0), ("root", "amod", "obj"))
    assert second.heads == (1, -1)
    assert ad.mentions == (
        Mention(0, 1, 3, "object", head=2),
        Mention(1, 0, 1, "object", head=0),
    )
    assert clusters == (1, 1)
    assert [ad.text(mention) for mention in ad.mentions] == ["green soap", "It"]
    assert [x.name for x, _ in corpus["dev"]] == ["memo"]
    assert corpus["test"] == corpus["test2"] == ()


def test_a_tally_counts_documents_sentences_words_mentions_and_clusters(litbank):
    found = tally(litbank())
    assert dict(found) == {
        "documents": 2,
        "sentences": 3,
        "words": 9,
        "mentions": 4,
        "clusters": 3,
        "PER": 4,
        "NOM": 2,
        "PRON": 2,
    }


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("#begin document (tale); part 0\n", "", 1, "expected '#begin document', got 'tale"),
        ("tale\t0\t1\tsister\t_", "tale\t0\t1\tsister", 3, "expected 13 columns, got 12"),
        ("tale\t0\t1\tsister", "song\t0\t1\tsister", 3, "document 'tale', got 'song'"),
        ("tale\t0\t1\tsister", "tale\t0\t2\tsister", 3, "expected word 1 of the sentence, got '2'"),
        ("(7|(9)", "(7|9", 5, "expected a mention such as .* got '9'"),
        ("7)|4)", "7)", 8, "the sentence ends and a mention of cluster 4 is not closed"),
        ("7)|4)", "7)|4)|8)", 6, "'8\\)' closes what no word has opened"),
        ("(7|(9)", "(7|(9)|(2)", 5, "'\\(2\\)' closes the same mention again"),
        ("#end document\n#begin", "#begin", 12, "expected '#end document' of 'tale'"),
        ("(song)", "(tale)", 14, "expected document 'tale', got 'song'"),
        ("La", "La\tla", 14, "expected 13 columns, got 14"),
    ],
)
def test_a_damaged_column_file_is_answered_with_its_line(litbank, tmp_path, old, new, line, reason):
    with refused(tmp_path / "words.conll", line, reason):
        litbank(damaged(WORDS, old, new))


def test_a_column_file_cut_off_or_doubled_is_a_data_error(litbank):
    with pytest.raises(DataError, match="line 15: the file ends inside document 'song'"):
        litbank(WORDS.removesuffix("#end document\n"))
    with pytest.raises(DataError, match="line 17: document 'tale' is in the file already"):
        litbank(WORDS + WORDS)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("COREF\tT1", "SAME\tT1", "line 6: expected one of MENTION COREF COP APPOS, got 'SAME'"),
        ("\tShe\tPER\tPRON", "\tShe\tPER", "line 5: expected 10 columns, got 9"),
        ("T4\t1\t0\t1\t0", "T4\t1\tx\t1\t0", "line 5: expected the number of .* got 'x'"),
        ("T4\t1\t0\t1\t0", "T4\t0\t5\t1\t0", "line 5: expected a mention inside one sentence"),
        ("She\tPER", "She\tPERSON", "line 5: expected one of PER FAC .* got 'PERSON'"),
        ("PER\tPRON\ntale\tMENTION\tT4", "PER\tX\ntale\tMENTION\tT4", "line 4: .* got 'X'"),
        ("T2\t0\t3\t0\t3", "T2\t0\t3\t0\t4", "line 4: 'tale' has a mention of these words"),
        ("T4\t1\t0\t1\t0", "T4\t1\t1\t1\t1", "sentence 1, .* words 0 to 0 is in words.conll only"),
        ("tale\tMENTION\tT4", "myth\tMENTION\tT4", "sentence 1, .* is in words.conll only"),
    ],
)
def test_a_damaged_file_of_mentions_is_a_data_error(litbank, old, new, reason):
    assert old in MENTIONS
    with pytest.raises(DataError, match=reason):
        litbank(mentions=MENTIONS.replace(old, new, 1))


def test_mentions_of_a_document_without_words_are_a_data_error(litbank):
    with pytest.raises(DataError, match=r"mentions.tsv: document 'myth' is not in words.conll"):
        litbank(mentions=MENTIONS + "myth\tMENTION\tT1\t0\t0\t0\t0\tX\tPER\tPROP\n")


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        ("tokens", "\tobj\n", "\n", "tokens.tsv, line 3: expected 9 columns, got 8"),
        ("tokens", "ad\t1\t3", "ad\t2\t3", "tokens.tsv, line 4: expected sentence 1, got 2"),
        ("tokens", "ad\t1\t3", "ad\tx\t3", "line 4: expected the number of a sentence, got 'x'"),
        ("tokens", "ad\t1\t3", "ad\t1\t4", "tokens.tsv, line 4: expected word 3, got '4'"),
        ("tokens", "PRP\t4", "PRP\t2", "tokens.tsv, line 4: the head 2 is in another sentence"),
        ("tokens", "PRP\t4", "PRP\t-2", "tokens.tsv, line 4: expected the number of a head"),
        ("tokens", "memo\t0\t0", "odd\t0\t0", "docs.tsv, line 1: document 'memo' is not in tok"),
        ("mentions", "\t1\n", "\n", "mentions.tsv, line 1: expected 8 columns, got 7"),
        ("mentions", "ad\t1\t1\t2\t2", "ad\t1\t1\t3\t2", "line 2: expected the first, last and"),
        ("mentions", "ad\t1\t1\t2\t2", "ad\t1\t1\t2\t0", "line 2: expected the first, last and"),
        ("mentions", "ad\t1\t1\t2\t2", "ad\t1\t3\t3\t3", "line 2: 'ad' has a mention of these"),
        ("mentions", "object\tnew", "thing\tnew", "line 2: expected one of abstract .* 'thing'"),
        ("mentions", "ad\t1", "myth\t1", "line 2: document 'myth' has no words"),
        ("docs", "news\t2", "news\t3", "line 2: 'ad' should have 3 sentences, and has 2"),
        ("docs", "2\t1\n", "2\t2\n", "line 2: 'ad' should have 2 clusters, and has 1"),
        ("docs", "train", "fold1", "line 2: expected one of train dev test test2, got 'fold1'"),
        ("docs", "ad\ttrain", "memo\ttrain", "line 2: document 'memo' is in the file already"),
        ("docs", "ad\ttrain\tnews\t2\t5\t2\t1\n", "", "tokens.tsv: document 'ad' is not in docs"),
    ],
)
def test_a_damaged_table_is_answered_with_its_line(gum, file, old, new, reason):
    texts = {"tokens": TOKENS, "mentions": MARKED, "docs": DOCUMENTS}
    assert old in texts[file]
    texts[file] = texts[file].replace(old, new, 1)
    with pytest.raises(DataError, match=reason):
        gum(texts["tokens"], texts["mentions"], texts["docs"])


def test_a_document_in_two_pieces_is_a_data_error(gum):
    with pytest.raises(DataError, match="line 7: document 'ad' goes on after another began"):
        gum(TOKENS + "ad\t1\t5\t.\t.\tPUNCT\t.\t4\tpunct\n")


def test_another_corpus_is_not_taken_for_the_real_one(tmp_path):
    for name, text in [
        ("litbank_coref.conll.gz", WORDS),
        ("litbank_mentions.tsv.gz", MENTIONS),
        ("gum_tokens.tsv.gz", TOKENS),
        ("gum_mentions.tsv.gz", MARKED),
    ]:
        (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    (tmp_path / "gum_docs.tsv").write_text(DOCUMENTS)
    with pytest.raises(DataError, match="documents: 100 expected, 2 found"):
        load_litbank_coref(tmp_path)
    with pytest.raises(DataError, match="train documents: 177 expected, 1 found"):
        load_gum_coref(tmp_path)


@cache
def real():
    return {"litbank": load_litbank_coref()["all"], "gum": load_gum_coref()}


@pytest.mark.usefixtures("real_data")
def test_real_litbank_has_the_counts_that_are_known_of_it():
    found = tally(real()["litbank"])
    kinds = ("PER", "FAC", "LOC", "GPE", "VEH", "ORG")
    assert [found[kind] for kind in kinds] == [24180, 2330, 1289, 948, 207, 149]
    assert [found[form] for form in ("PRON", "NOM", "PROP")] == [15816, 9737, 3550]
    sizes = [len(document.mentions) for document, _ in real()["litbank"]]
    assert (min(sizes), max(sizes)) == (131, 501)


@pytest.mark.usefixtures("real_data")
def test_real_gum_has_the_counts_that_are_known_of_it():
    found = {
        part: [tally(own)[what] for what in ("documents", "sentences", "words", "mentions")]
        for part, own in real()["gum"].parts.items()
    }
    assert found == {
        "train": [177, 10224, 177410, 49649],
        "dev": [30, 1575, 28119, 7897],
        "test": [30, 1464, 28397, 7927],
        "test2": [26, 1334, 17799, 5680],
    }
    sizes = [
        clusters.count(cluster)
        for part in real()["gum"].parts.values()
        for _, clusters in part
        for cluster in set(clusters)
    ]
    assert sum(size > 1 for size in sizes) == 10038
    assert sum(size for size in sizes if size > 1) == 44093


@pytest.mark.usefixtures("real_data")
def test_real_mentions_are_in_reading_order_and_inside_their_sentence():
    examples = [*real()["litbank"], *(e for own in real()["gum"].parts.values() for e in own)]
    for document, clusters in examples:
        assert len(document.mentions) == len(clusters)
        for mention in document.mentions:
            length = len(document.sentences[mention.sentence].words)
            assert 0 <= mention.start < mention.stop <= length
            assert mention.head == -1 or mention.start <= mention.head < mention.stop
        order = [(m.sentence, m.start, -m.stop) for m in document.mentions]
        assert all(before < after for before, after in pairwise(order))
