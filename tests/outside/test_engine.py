"""An engine of one's own, made of promised names alone."""

from dataclasses import dataclass

import numpy as np

from rote import Amortized, Context, Engine, Exact, Problem, Solutions, SpaceBuilder, at_most
from rote.engines import FoundBy, k_best, layers


@dataclass(frozen=True)
class Listing(Engine):
    """Looks at every output of each input, in Python."""

    def answer(self, problem: Problem, context: Context) -> Solutions:
        space = problem.space
        every = np.array(list(np.ndindex(*space.sizes.tolist())), dtype=np.int64)
        every = every[space.holds(every)]
        labels = np.empty((len(problem), len(space.variables)), dtype=np.int64)
        for i in range(len(problem)):
            one = problem.rows(i)
            shut = one.closed_labels[0][space.offsets[:-1] + every].any(axis=1)
            value = np.where(shut, -np.inf, space.value(one.scores[0], every))
            labels[i] = every[value.argmax()] if value.max() > -np.inf else -1
        return Solutions.of(problem, labels, FoundBy.ENUMERATION)


def space_of(count: int = 4):
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{i}", "abc") for i in range(count)]
    builder.require(at_most(2, [variable["a"] for variable in variables]))
    return builder.build()


def test_it_solves_as_others_do_alone_and_inside_a_wrapper():
    space = space_of()
    scores = np.random.default_rng(0).normal(size=(20, space.parts))
    expected = Exact().solve(space, scores)
    for engine in (Listing(), Amortized(Listing(), admission="always")):
        assert (engine.solve(space, scores).labels == expected.labels).all()
        assert list(layers(engine))[-1] == Listing()
    best = k_best(space, scores, 3, Listing())
    assert [one.value.tolist() for one in best] == [
        one.value.tolist() for one in k_best(space, scores, 3)
    ]
