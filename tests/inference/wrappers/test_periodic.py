"""`Periodic`: which inputs are solved exactly, and what learning comes to by it."""

import numpy as np
import pytest

from rote.engines import Exact, FoundBy
from rote.errors import SettingError
from rote.inference.approximate import RGS
from rote.inference.engine import Engine
from rote.inference.wrappers.periodic import Periodic
from rote.learning import StructuredSVM
from rote.tasks.entity_relation import entity_relation_space
from tests.learning.small import chains, start


@pytest.mark.parametrize("every", [1, 2, 3, 7, 100])
def test_every_so_many_inputs_one_is_solved_exactly_whatever_the_batches(every):
    space = entity_relation_space(2)
    scores = np.random.default_rng(0).normal(size=(20, space.parts))
    sources = []
    for sizes in ((20,), (3, 0, 9, 1, 7)):
        engine, first = Periodic(RGS(restarts=3), every), 0
        found = []
        for size in sizes:
            answers = engine.solve(space, scores[first : first + size])
            assert len(answers) == size
            found += answers.source.tolist()
            first += size
        sources.append(found)
    assert sources[0] == sources[1]
    greedy = np.array(sources[0]) == FoundBy.GREEDY
    assert greedy.tolist() == [(k + 1) % every != 0 for k in range(20)]


def test_answers_stand_in_the_order_of_the_inputs():
    space = entity_relation_space(2)
    scores = np.random.default_rng(1).normal(size=(30, space.parts))
    found = Periodic(RGS(restarts=100), 4).solve(space, scores)
    best = Exact().solve(space, scores)
    assert found.value == pytest.approx(best.value)
    assert found.labels.tolist() == best.labels.tolist()


def test_learning_with_it_ends_where_exact_learning_ends():
    class Lazy(Engine):
        """Finds the first of all outputs, always."""

        def answer(self, problem, context):
            labels = np.zeros((len(problem), len(problem.space.variables)), dtype=np.int64)
            best = Exact().answer(problem, context)
            value = problem.value(labels)
            return type(best)(labels, value, best.bound, best.status, best.source)

    model, prepared = start(*chains(5, count=12, longest=4))
    learner = StructuredSVM(C=0.5, delta=1e-3, iterations=300, online_epochs=0, passes=10)
    duals = {}
    for name, engine in {
        "exact": Exact(),
        "lazy": Lazy(),
        "every fifth": Periodic(Lazy(), 5),
    }.items():
        for state in learner.iterate(model.with_engine(engine), prepared):
            duals[name] = state.measures["dual"]
    assert duals["lazy"] < 0.9 * duals["exact"]
    assert duals["every fifth"] == pytest.approx(duals["exact"], rel=0.02)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        *(({"every": bad}, "every is a whole number of at least 1") for bad in (0, 1.5, "two")),
        ({"inner": RGS}, "inner is one such as Exact"),
        ({"exact": None}, "exact is one such as Exact"),
    ],
)
def test_settings_that_cannot_be_are_refused(wrong, said):
    with pytest.raises(SettingError, match=said):
        Periodic(**wrong)
