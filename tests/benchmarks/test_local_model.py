"""The local model learns, and its scores are log-probabilities in the order of the space."""

import numpy as np
import pytest

from benchmarks.local_model import train
from rote.io.conll import Entity, Relation, Sentence
from rote.tasks.entity_relation import entity_relation_space

pytest.importorskip("sklearn")


def sentence(person, place):
    words = (person, "lives", "in", place, ".")
    return Sentence(
        0,
        words,
        ("NNP", "VBZ", "IN", "NNP", "."),
        (Entity(0, 1, "Peop"), Entity(3, 4, "Loc")),
        (Relation(0, 1, "Live_In"),),
    )


def others():
    """Sentences in which every other label occurs."""
    kinds = [
        ("Peop", "Kill", "Peop"),
        ("Peop", "Work_For", "Org"),
        ("Org", "OrgBased_In", "Loc"),
        ("Loc", "Located_In", "Loc"),
        ("Other", None, "Other"),
    ]
    for first, relation, second in kinds:
        yield Sentence(
            0,
            (f"{first}-a", f"does {relation}", f"{second}-b"),
            ("NN", "VB", "NN"),
            (Entity(0, 1, first), Entity(2, 3, second)),
            () if relation is None else (Relation(0, 1, relation),),
        )


def test_what_was_seen_in_training_is_found_again():
    model = train([sentence("Ann", "Oslo"), sentence("Bob", "Rome"), *others()] * 4)
    space = entity_relation_space(2)
    scores = model.scores(sentence("Eve", "Bonn"))
    assert scores.shape == (space.parts,)
    starts = space.offsets[:-1]
    np.testing.assert_allclose(np.add.reduceat(np.exp(scores), starts), 1.0)
    best = [scores[a : a + k].argmax() for a, k in zip(starts, space.sizes, strict=True)]
    assert space.decode(np.array(best))[0] == {
        "e0": "Peop",
        "e1": "Loc",
        "r0_1": "Live_In",
        "r1_0": "none",
    }
