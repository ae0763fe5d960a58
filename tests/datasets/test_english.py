"""Made-up sentences: well formed, varied, ambiguous, and such that rules improve decisions."""

import hashlib
import tomllib
from collections import Counter, defaultdict
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest

from rote.datasets import english, english_sentences
from rote.errors import SettingError
from rote.io.conll import ENTITIES, RELATIONS, Relation
from rote.tasks.entity_relation import (
    ARGUMENTS,
    ENTITY_LABELS,
    RELATION_LABELS,
    entity_relation_space,
    pairs,
)

FILE = Path(english.__file__).with_name("english.toml")


@pytest.fixture(scope="module")
def sentences():
    return english_sentences(5000, seed=0)


def gold(sentence):
    """The labels of a sentence, in the order of its space."""
    known = {(r.first, r.second): r.label for r in sentence.relations}
    related = [known.get(pair, "none") for pair in pairs(len(sentence.entities))]
    return [ENTITY_LABELS.index(e.label) for e in sentence.entities] + [
        RELATION_LABELS.index(label) for label in related
    ]


def test_the_same_seed_gives_the_same_sentences_and_more_when_asked():
    few = english_sentences(20, seed=5)
    assert english_sentences(20, seed=5) == few
    assert english_sentences(30, seed=5)[:20] == few
    assert english_sentences(20, seed=6) != few
    assert [sentence.id for sentence in few] == list(range(20))
    assert english_sentences(0, seed=5) == ()
    with pytest.raises(SettingError, match="count is a whole number of at least 0, got -1"):
        english_sentences(-1, seed=5)


@pytest.mark.parametrize(
    ("seed", "digest"), [(0, "1bad3af53e26"), (1, "39afd2ceddb9"), (2024, "763b865dae8f")]
)
def test_the_sentences_of_a_seed_never_change(seed, digest):
    text = repr([astuple(sentence) for sentence in english_sentences(500, seed)])
    assert hashlib.sha256(text.encode()).hexdigest()[:12] == digest


def test_thousands_of_sentences_are_distinct(sentences):
    assert len({sentence.words for sentence in sentences}) > 4500


def test_every_word_has_a_tag_and_spans_are_apart_and_in_order(sentences):
    for sentence in sentences:
        assert len(sentence.words) == len(sentence.pos)
        assert all(sentence.words)
        assert all(sentence.pos)
        assert sentence.words[0][0].isupper()
        assert sentence.words[-1] == "."
        assert all(entity.start < entity.stop for entity in sentence.entities)
        ends = [at for entity in sentence.entities for at in (entity.start, entity.stop)]
        assert ends == sorted(ends)


def test_sentences_have_two_to_six_entities_of_every_kind(sentences):
    assert {len(sentence.entities) for sentence in sentences} == {2, 3, 4, 5, 6}
    kinds = Counter(entity.label for sentence in sentences for entity in sentence.entities)
    assert set(kinds) == set(ENTITIES)
    assert min(kinds.values()) > 0.05 * kinds.total()
    for sentence in sentences:
        names = [sentence.text(entity) for entity in sentence.entities]
        assert len(set(names)) == len(names)


def test_every_relation_occurs_and_obeys_its_argument_types(sentences):
    found = Counter(relation.label for sentence in sentences for relation in sentence.relations)
    assert set(found) == set(RELATIONS)
    assert min(found.values()) > 0.05 * found.total()
    for sentence in sentences:
        for relation in sentence.relations:
            ends = sentence.entities[relation.first], sentence.entities[relation.second]
            assert tuple(entity.label for entity in ends) == ARGUMENTS[relation.label]


def test_what_is_true_of_a_sentence_is_an_output_of_its_space(sentences):
    for sentence in sentences[:500]:
        space = entity_relation_space(len(sentence.entities))
        assert space.broken(np.array(gold(sentence))) == ()


def test_entities_of_different_clauses_are_not_related(sentences):
    joins = {"and", "but", "while", "although", ";"}
    several = 0
    for sentence in sentences:
        several += bool(joins & set(sentence.words))
        for relation in sentence.relations:
            ends = [sentence.entities[k] for k in (relation.first, relation.second)]
            between = sentence.words[min(e.stop for e in ends) : max(e.start for e in ends)]
            assert not joins & set(between)
    assert several > 3000


def test_a_template_is_read_as_it_says():
    template = english._parsed("Peop ~ from Loc shot|killed/VBD Nation = Live_In 0 1; Kill 0 2")
    assert template.chunks == ("Peop", "~", "from", "Loc", "shot|killed/VBD", "Nation")
    assert template.relations == (Relation(0, 1, "Live_In"), Relation(0, 2, "Kill"))
    assert template.entities == 3
    assert english._parsed("Peop DOES") == (("Peop", "DOES"), (), 1)


def test_there_are_many_templates_and_each_speaks_of_its_own_entities():
    templates = english._words().templates
    assert len(set(templates)) == len(templates) >= 60
    for template in templates:
        kinds = [english.KINDS[piece] for piece in template.chunks if piece in english.KINDS]
        assert len(kinds) == template.entities >= 1
        for relation in template.relations:
            assert (kinds[relation.first], kinds[relation.second]) == ARGUMENTS[relation.label]


def test_every_word_that_can_be_written_has_a_tag():
    known = english._words()
    phrases = [phrase for some in known.phrases.values() for phrase in some]
    phrases += [phrase for some in known.introductions.values() for phrase in some]
    phrases += [*known.openings, *known.joins, *known.hedges]
    phrases += [" ".join(template.chunks) for template in known.templates]
    chunks = {piece for phrase in phrases for piece in phrase.split()}
    plain = chunks - english.KINDS.keys() - known.phrases.keys() - {"~", "#"}
    words = {word for piece in plain if "/" not in piece for word in piece.split("|")}
    assert words - known.tags.keys() == set()


def test_no_word_has_two_tags_in_the_list():
    lines = tomllib.loads(FILE.read_text(encoding="utf-8"))["tags"].strip().splitlines()
    words = [word for line in lines for word in line.rpartition(": ")[2].split()]
    assert [word for word, times in Counter(words).items() if times > 1] == []


def test_a_name_alone_does_not_tell_what_it_names(sentences):
    seen = defaultdict(Counter)
    for sentence in sentences:
        for entity in sentence.entities:
            seen[sentence.text(entity)][entity.label] += 1
    for name in ("Washington", "Jordan", "Lincoln", "Madison", "Houston", "Austin", "Chelsea"):
        assert {"Peop", "Loc", "Org"} <= seen[name].keys()
    assert {"Peop", "Org"} <= seen["Ford"].keys() & seen["Disney"].keys()
    assert {"Peop", "Loc"} <= seen["Saint Paul"].keys() & seen["Sydney"].keys()


def test_the_words_between_do_not_tell_the_relation(sentences):
    meant = defaultdict(set)
    for sentence in sentences:
        related = {frozenset((r.first, r.second)): r.label for r in sentence.relations}
        for k in range(len(sentence.entities) - 1):
            left, right = sentence.entities[k : k + 2]
            between = " ".join(sentence.words[left.stop : right.start])
            meant[between].add(related.get(frozenset((k, k + 1)), "none"))
    assert {"Live_In", "Work_For", "OrgBased_In", "none"} <= meant["of"]
    assert {"Live_In", "Work_For", "OrgBased_In", "none"} <= meant["from"]
    assert {"Live_In", "OrgBased_In", "Located_In", "none"} <= meant["in"]
    assert {"Live_In", "Work_For", "OrgBased_In", "Located_In", "none"} <= meant["'s"]
    assert {"Live_In", "Work_For", "OrgBased_In", "Located_In"} <= meant["("]
    assert {"Kill", "none"} <= meant["was shot by"]
