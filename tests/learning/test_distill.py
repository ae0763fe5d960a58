"""Teaching a `LearnedBeam`, judged by what it then does with inputs that it has not seen."""

import pytest

from rote import Exact, LearnedBeam, StructuredSVM, train
from rote.datasets import english_sentences
from rote.errors import SettingError
from rote.learning.distill import BATCH, distill
from rote.tasks.entity_relation import EntityRelation, EntityRelationOutput


@pytest.fixture(scope="module")
def sentences():
    return english_sentences(300, 0)


@pytest.fixture(scope="module")
def model(sentences):
    learned = sentences[:100]
    learner = StructuredSVM(0.1, iterations=5)
    return train(
        EntityRelation(), learned, [EntityRelationOutput.of(x) for x in learned], learner=learner
    )


def agreement(model, prepared):
    """How many labels are those of exact inference, and how many outputs obey, as shares."""
    same = total = obey = 0
    for group in prepared.groups:
        problem = prepared.problem(model.weights, group)
        found = model.engine.searched(group.space, problem)
        best = Exact().solve(group.space, problem).labels
        same += int((found.labels == best).sum())
        obey += int(found.is_feasible.sum())
        total += best.size
    return same / max(1, total), obey / len(prepared)


def test_a_taught_search_obeys_more_often_and_agrees_no_less(model, sentences):
    untaught = model.with_engine(LearnedBeam(Exact(), width=2))
    taught = model.with_engine(LearnedBeam(Exact(), width=2))
    unlabelled, asked = (model.prepare(part) for part in (sentences[100:200], sentences[200:]))
    mistakes = distill(taught, unlabelled, epochs=3)
    assert len(mistakes) == 3
    assert mistakes[-1] <= mistakes[0]
    before, after = agreement(untaught, asked), agreement(taught, asked)
    assert after[1] >= before[1]
    assert after[0] >= before[0] - 0.01


def test_progress_is_told_piece_by_piece(model, sentences):
    unlabelled = model.prepare(sentences[100:160])
    told = []
    distill(
        model.with_engine(LearnedBeam(Exact())),
        unlabelled,
        epochs=2,
        progress=lambda *now: told.append(now),
    )
    chunks = sum(-(-len(group) // BATCH) for group in unlabelled.groups)
    assert told == [(k, 2 * chunks) for k in range(1, 2 * chunks + 1)]


def test_other_engines_cannot_be_taught(model, sentences):
    with pytest.raises(SettingError, match="only a LearnedBeam"):
        distill(model, model.prepare(sentences[:2]))
    with pytest.raises(SettingError, match="epochs"):
        distill(model.with_engine(LearnedBeam()), model.prepare(sentences[:2]), epochs=0)
