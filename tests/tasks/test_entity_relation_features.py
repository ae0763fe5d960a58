"""Features are what stands in the sentence, and never what the corpus says of it."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rote.datasets import english_sentences
from rote.features import FeatureIndex, VectorBuilder
from rote.features import trie as module
from rote.features.words import is_symbol, short_shape
from rote.io.conll import Entity, Relation, Sentence
from rote.tasks.entity_relation import EntityRelation
from tests.bundles import fields_of

# Anna Bell lives in New York COMMA near IBM .
SENTENCE = Sentence(
    7,
    ("Anna", "Bell", "lives", "in", "New", "York", "COMMA", "near", "IBM", "."),
    ("NNP", "NNP", "VBZ", "IN", "NNP", "NNP", ",", "IN", "NNP", "."),
    (Entity(0, 2, "Peop"), Entity(4, 6, "Loc"), Entity(8, 9, "Org")),
    (Relation(0, 1, "Live_In"),),
)


def entity_features(sentence, i):
    return EntityRelation().vectors(sentence)[i]


def pair_features(sentence, i, j):
    n = len(sentence.entities)
    return EntityRelation().vectors(sentence)[n + i * (n - 1) + j - (j > i)]


# -- the judge: every name by its definition, nothing kept -----------------------------------


def text(word):
    """A text has no spaces."""
    return word.replace(" ", "_")


def plain_entity(sentence, i):
    """The features of an entity, read off the sentence name by name."""
    begin, end = sentence.entities[i].start, sentence.entities[i].stop
    own = sentence.words[begin:end]
    low, looks = [text(w.lower()) for w in own], [text(short_shape(w)) for w in own]

    def word(k):
        return text(sentence.words[k].lower()) if k in range(len(sentence.words)) else "<edge>"

    def tag(k):
        return sentence.pos[k].lower() if k in range(len(sentence.pos)) else "<edge>"

    yield from ("bias", f"length={min(4, len(own))}", "text=" + " ".join(low))
    yield from ("first=" + low[0], "last=" + low[-1], "shapes=" + " ".join(looks[:4]))
    yield "tags=" + " ".join(sentence.pos[begin:end][:4])
    yield from ("first shape=" + looks[0], "last shape=" + looks[-1])
    yield from ("word=" + w for k, w in enumerate(low) if w not in low[:k])
    yield from ("shape=" + s for k, s in enumerate(looks) if s not in looks[:k])
    two = [f"words={low[k]} {low[k + 1]}" for k in range(len(low) - 1)]
    yield from (words for k, words in enumerate(two) if words not in two[:k])
    first, last = own[0].lower(), own[-1].lower()
    yield from ("last ends=" + text(last[-k:]) for k in (2, 3, 4))
    yield from ("last begins=" + text(last[:k]) for k in (2, 3, 4))
    yield from ("first ends=" + text(first[-k:]) for k in (2, 3))
    yield from ["all capitals"] * all(w.isupper() for w in own)
    yield from ["a number"] * any(w.isdigit() for w in own)
    yield from ["no capital"] * (not any(w[:1].isupper() for w in own))
    yield from ["at the start"] * (begin == 0)
    for k in (1, 2, 3):
        left, right = word(begin - k), word(end + k - 1)
        yield from (f"-{k}={left}", f"+{k}={right}", f"near={left}", f"near={right}")
        yield from (f"tag-{k}={tag(begin - k)}", f"tag+{k}={tag(end + k - 1)}")
    yield f"-2-1={word(begin - 2)} {word(begin - 1)}"
    yield f"+1+2={word(end)} {word(end + 1)}"
    yield f"-1+1={word(begin - 1)} {word(end)}"
    yield f"-1 shape={word(begin - 1)} {looks[0]}"
    yield f"+1 shape={word(end)} {looks[-1]}"


def plain_pair(sentence, i, j):
    """The features of a pair, read off the sentence name by name."""
    order, (left, right) = ("<>"[i < j], sorted((i, j)))
    begin, end = sentence.entities[left].stop, sentence.entities[right].start
    inside, tags = [w.lower() for w in sentence.words[begin:end]], sentence.pos[begin:end]
    signs = text("".join(w for w in inside if is_symbol(w) or w == "comma"))
    inside = [text(w) for w in inside]
    ends, looks = [], []
    for k in (i, j):
        first, stop = sentence.entities[k].start, sentence.entities[k].stop
        ends.append(text(sentence.words[stop - 1].lower()))
        look = short_shape(sentence.words[stop - 1])
        looks.append(text(f"{look}/{sentence.pos[stop - 1]}/{min(4, stop - first)}"))

    def around(column, back, on):
        spot = sentence.entities[left].start - back, sentence.entities[right].stop + on - 1
        at = [text(column[k].lower()) if k in range(len(column)) else "<edge>" for k in spot]
        return at[0] if not on else at[1] if not back else " ".join(at)

    def names():
        words = sentence.words
        yield from (
            f"distance={min(12, len(inside))}",
            f"entities between={min(4, right - left - 1)}",
        )
        yield "signs=" + signs
        yield "tags=" + " ".join(tags[:12])
        yield from ("before=" + around(words, 1, 0), "after=" + around(words, 0, 1))
        yield "around=" + around(words, 1, 1)
        yield f"before before={around(words, 2, 0)} {around(words, 1, 0)}"
        yield f"after after={around(words, 0, 1)} {around(words, 0, 2)}"
        yield "tags around=" + around(sentence.pos, 1, 1)
        yield "outlines=" + " ".join(looks)
        if len(inside) < 5:
            yield "all=" + " ".join(inside)
            yield f"all between={looks[0]} {' '.join(inside)} {looks[1]}"
        if inside:
            yield from ("first between=" + inside[0], "last between=" + inside[-1])
        two = [f"{inside[k]} {inside[k + 1]}" for k in range(len(inside) - 1)]
        verbs = [inside[k] for k in range(len(inside)) if tags[k][:2] == "VB"]
        for name, seen in (("between", inside), ("words", two), ("verb", verbs)):
            yield from (f"{name}={it}" for k, it in enumerate(seen) if it not in seen[:k])

    yield from (
        "bias",
        f"bias{order}",
        f"one={ends[0]}",
        f"two={ends[1]}",
        "ends=" + " ".join(ends),
    )
    yield from ("one looks=" + looks[0], "two looks=" + looks[1])
    yield from names()
    yield from (order + name for name in names())


def plain(sentence):
    """All vectors of a sentence, as lists of names."""
    n = range(len(sentence.entities))
    return [list(plain_entity(sentence, i)) for i in n] + [
        list(plain_pair(sentence, i, j)) for i in n for j in n if i != j
    ]


# Words that come again, differ only in case, are signs or numbers, or are odd in small letters.
WORDS = ("the", "The", "IBM", "ibm", "Anna", "said", "1990", "COMMA", "comma", "--", "", "İ", "a b")
TAGS = ("NNP", "VBD", "VB", ",", "", "vbz")


@st.composite
def sentences(draw):
    words = draw(st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=24))
    tags = draw(st.lists(st.sampled_from(TAGS), min_size=len(words), max_size=len(words)))
    # As the reader gives them, or in any order and overlapping, which nothing forbids.
    cuts = draw(st.lists(st.integers(0, len(words)), max_size=10))
    if draw(st.booleans()):
        cuts = sorted(set(cuts))
    spans = [sorted(two) for two in zip(cuts[::2], cuts[1::2], strict=False)]
    found = tuple(Entity(begin, end, "Peop") for begin, end in spans if begin < end)
    return Sentence(0, tuple(words), tuple(tags), found, ())


@given(sentences())
@example(SENTENCE)
@example(replace(SENTENCE, entities=()))
@example(replace(SENTENCE, entities=SENTENCE.entities[1:2]))
def test_vectors_are_what_their_definition_says_name_by_name(sentence):
    assert EntityRelation().vectors(sentence) == plain(sentence)


def learned(left_out=()):
    """Frozen indices of some sentences, without names that begin in one of these ways."""
    names = {"entity": {}, "pair": {}}
    for sentence in (SENTENCE, *english_sentences(20, seed=5)):
        rows, n = plain(sentence), len(sentence.entities)
        for kind, own in (("entity", rows[:n]), ("pair", rows[n:])):
            names[kind].update(dict.fromkeys(name for row in own for name in row))
    indices = {}
    for kind, known in names.items():
        indices[kind] = FeatureIndex(n for n in known if not n.startswith(tuple(left_out)))
        indices[kind].freeze()
    return indices


def columns(indices, *sentences):
    """The columns of all vectors of sentences, as they are read together."""
    builder, task = VectorBuilder(indices), EntityRelation()
    counts = [len(sentence.entities) ** 2 for sentence in sentences]
    inputs = np.repeat(np.arange(len(counts)), counts)
    vectors = np.array([k for count in counts for k in range(count)], dtype=np.int64)
    kinds = [kind for sentence in sentences for kind in task.frame(sentence).kinds]
    builder.add_lines(kinds, task.feature_reader(sentences, builder.names).lines(inputs, vectors))
    ptr, column, value = fields_of(builder.build())
    assert (value == 1).all()
    return [column[a:b].tolist() for a, b in pairwise(ptr[1:].tolist())]


def plain_columns(indices, *sentences):
    known = {kind: {n: k for k, n in enumerate(i.names())} for kind, i in indices.items()}
    return [
        [known[kind][name] for name in row if name in known[kind]]
        for sentence in sentences
        for kind, row in zip(EntityRelation().frame(sentence).kinds, plain(sentence), strict=True)
    ]


KNOWN = learned()


@given(st.lists(sentences(), max_size=3))
@example([SENTENCE])
@example([replace(SENTENCE, entities=()), SENTENCE])
@example([replace(SENTENCE, entities=SENTENCE.entities[1:2])])
def test_columns_are_those_of_the_names_that_are_known(together):
    assert columns(KNOWN, *together) == plain_columns(KNOWN, *together)
    growing = {"entity": FeatureIndex(), "pair": FeatureIndex()}
    grown = columns(growing, *together)
    assert grown == plain_columns(growing, *together)
    rows = [row for each in together for row in plain(each)[len(each.entities) :]]
    assert growing["pair"].names() == tuple(dict.fromkeys(name for row in rows for name in row))


@given(sentences(), st.randoms())
def test_only_what_is_asked_for_is_read_and_in_that_order(sentence, random):
    builder, task = VectorBuilder(KNOWN), EntityRelation()
    together = (SENTENCE, sentence)
    every = [(i, k) for i, each in enumerate(together) for k in range(len(each.entities) ** 2)]
    some = random.sample(every, random.randint(0, len(every)))
    inputs, vectors = np.array(some, dtype=np.int64).reshape(-1, 2).T
    kinds = [task.frame(together[i]).kinds[k] for i, k in some]
    builder.add_lines(kinds, task.feature_reader(together, builder.names).lines(inputs, vectors))
    ptr, column, _ = fields_of(builder.build())
    found = [column[a:b].tolist() for a, b in pairwise(ptr[1:].tolist())]
    right = plain_columns(KNOWN, *together)
    assert found == [right[every.index(each)] for each in some]


@pytest.mark.parametrize("left_out", [("bet", "one="), (">",), ("<d", "dist", "near")])
def test_names_that_are_known_only_behind_a_mark_are_found(left_out):
    indices = learned(left_out)
    for sentence in (SENTENCE, *english_sentences(10, seed=6)):
        assert columns(indices, sentence) == plain_columns(indices, sentence)


@pytest.mark.parametrize("limit", [1, 50])
def test_lexica_that_are_emptied_change_nothing(monkeypatch, limit):
    monkeypatch.setattr(module, "LIMIT", limit)
    indices = learned()
    for sentence in english_sentences(30, seed=7):
        assert columns(indices, sentence) == plain_columns(indices, sentence)


def test_threads_that_share_an_index_get_the_same(monkeypatch):
    monkeypatch.setattr(module, "LIMIT", 5)  # so that lexica are emptied while others read them
    xs = english_sentences(40, seed=8)
    indices, expected = learned(), [plain_columns(KNOWN, x) for x in xs]
    with ThreadPoolExecutor(8) as pool:
        rounds = [pool.map(partial(columns, indices), xs) for _ in range(4)]
        assert [list(found) for found in rounds] == [expected] * 4


def test_labels_and_relations_are_never_looked_at():
    for sentence in (SENTENCE, *english_sentences(30, seed=3)):
        blank = tuple(Entity(e.start, e.stop, "?") for e in sentence.entities)
        unknown = replace(sentence, id=-1, entities=blank, relations=())
        n = len(blank)
        for i in range(n):
            assert entity_features(sentence, i) == entity_features(unknown, i)
            for j in range(n):
                if i != j:
                    assert pair_features(sentence, i, j) == pair_features(unknown, i, j)


def test_the_order_of_features_is_the_same_in_every_process():
    code = (
        "from rote.datasets import english_sentences\n"
        "from rote.tasks.entity_relation import EntityRelation\n"
        "for s in english_sentences(5, seed=0):\n"
        "    print([list(vector) for vector in EntityRelation().vectors(s)])\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1
