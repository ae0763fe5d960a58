"""Problems of joint extraction: as many variables as asked for, and rules that hold as they say."""

import numpy as np
import pytest

from benchmarks.one_off_cases import drawn, space_of
from rote import Exact


@pytest.mark.parametrize("size", [10, 50])
def test_a_problem_is_drawn_by_its_seed(size):
    one, again, other = drawn(size, 1), drawn(size, 1), drawn(size, 2)
    assert one.spans == again.spans
    assert one.scores.tolist() == again.scores.tolist()
    assert one.scores.tolist() != other.scores.tolist()
    assert len(space_of(one).variables) == size


def test_overlaps_ends_and_functional_relations_are_rules():
    problem = drawn(50, 3)
    space = space_of(problem)
    (found,) = Exact().solve(space, problem.scores + np.tile([0.0, 3.0], 50)).labels
    n = len(problem.spans)
    words = [w for i in np.flatnonzero(found[:n]) for w in range(*problem.spans[i])]
    assert len(words) == len(set(words))
    there = np.flatnonzero(found[n:])
    assert len(there) > 3
    assert all(found[end] for i in there for end in problem.ends[i])
    first_ends = [(problem.relations[i], problem.ends[i][0]) for i in there]
    functional = [pair for pair in first_ends if pair[0] < 2]
    assert len(functional) == len(set(functional))
