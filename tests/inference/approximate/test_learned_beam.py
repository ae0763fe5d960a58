"""`LearnedBeam`: it learns from an engine, always obeys, skips what h decides, and counts."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.engines import Exact, FoundBy, Solutions, Status, clamp
from rote.errors import InfeasibleSpace, SettingError
from rote.inference.approximate import RGS, Beam, LearnedBeam
from rote.inference.engine import Engine
from rote.inference.problem import LazyProblem, LazyScores
from rote.space import SpaceBuilder, at_most
from rote.tasks.entity_relation import entity_relation_space
from rote.types import readonly
from tests.inference.approximate.truth import check_truth
from tests.strategies import Judge, problems, rules_as_rows, spaces

# Numbers wrap around, as they do in the compiled kernel.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
SPACES = [entity_relation_space(n) for n in (2, 3, 4)]


def inputs(space, m, seed=0):
    return np.random.default_rng(seed).normal(size=(m, space.parts))


def taught(**options):
    """One that has seen a few hundred sentences."""
    speedup = LearnedBeam(**{"width": 4, "step": 0.1, **options})
    for seed in range(3):
        for space in SPACES:
            speedup.learn(space, inputs(space, 100, seed))
    return speedup


class Counting(Engine):
    """An engine that keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def answer(self, problem, context):
        self.asked.append(len(problem))
        return Exact().answer(problem, context)


# -- learning -----------------------------------------------------------------------------


def test_learning_lowers_mistakes_and_broken_rules():
    speedup = LearnedBeam(Exact(), width=4, step=0.1)
    first = [speedup.learn(space, inputs(space, 100)) for space in SPACES]
    for seed in range(1, 4):
        for space in SPACES:
            speedup.learn(space, inputs(space, 100, seed))
    last = [speedup.learn(space, inputs(space, 100, 9)) for space in SPACES]
    assert sum(last) < sum(first)
    for space in SPACES:
        scores, fresh = inputs(space, 200, 10), LearnedBeam(width=4)
        before = fresh.searched(space, scores).is_feasible.mean()
        after = speedup.searched(space, scores).is_feasible.mean()
        assert after > before + 0.1
        best = Exact().solve(space, scores).labels
        right = [
            (one.searched(space, scores).labels == best).all(axis=1).mean()
            for one in (fresh, speedup)
        ]
        assert right[1] > right[0]


def test_before_it_has_learned_it_is_a_plain_beam():
    space = SPACES[1]
    scores = inputs(space, 20)
    found, plain = LearnedBeam(width=3).searched(space, scores), Beam(3).solve(space, scores)
    assert found.labels[found.is_feasible].tolist() == plain.labels[plain.value > -np.inf].tolist()
    assert found.is_feasible.tolist() == (plain.value > -np.inf).tolist()


def test_what_is_learned_is_the_mean_of_all_weights_unless_the_last_are_asked_for():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "a"), builder.variable("y", "ab")
    builder.factor(x, y)
    space = builder.build()
    problem = clamp(space, np.zeros((4, space.parts)), {"x": "a"})

    class Second(Engine):
        def answer(self, problem, context):
            found = Exact().answer(problem, context)
            labels = readonly(np.tile([0, 1], (len(problem), 1)))
            return Solutions(labels, *(found.value, found.bound, found.status, found.source))

    last, mean = (LearnedBeam(Second(), width=1, step=1.0, average=a) for a in (False, True))
    assert last.learn(space, problem) == mean.learn(space, problem) == 1
    assert sorted(last.weights.tolist()) == [-1.0, 1.0]
    # Of four inputs, the first was looked at with zeros.
    assert sorted(mean.weights.tolist()) == [-0.75, 0.75]


def test_inputs_without_an_answer_are_not_learned_from():
    space = SPACES[0]
    problem = clamp(space, inputs(space, 2), [{"r0_1": "Kill", "e0": "Loc"}, {}])
    speedup = LearnedBeam()
    speedup.learn(space, problem)
    assert speedup.stats["taught"] == 2
    assert speedup.stats["mistakes"] <= 1


@given(problems(spaces(most=4, max_rules=3)), st.sampled_from([None, 1, 4]), st.booleans())
def test_answers_always_obey(problem, as_rows, proof):
    space, problem = problem
    with rules_as_rows(as_rows):
        if not Judge(space).feasible:
            with pytest.raises(InfeasibleSpace):
                LearnedBeam(width=2, proof=proof).solve(space, problem.scores)
            return
        for theta in (None, 0.1, 0.0):
            speedup = LearnedBeam(width=2, theta=theta, step=1.0, proof=proof)
            check_truth(space, problem, speedup.solve(space, problem))
            speedup.learn(space, problem)
            found = speedup.solve(space, problem)
            check_truth(space, problem, found)
            assert speedup.stats["inputs"] == 2 * len(problem)


def test_answers_are_those_of_the_search_and_broken_ones_are_repaired():
    space, speedup = SPACES[1], taught()
    scores = inputs(space, 50, 4)
    beams, found = speedup.searched(space, scores), speedup.solve(space, scores)
    assert 0 < beams.is_feasible.sum() < 50
    assert found.labels[beams.is_feasible].tolist() == beams.labels[beams.is_feasible].tolist()
    assert space.holds(found.labels).all()
    assert (found.source == FoundBy.BEAM).all()
    broken = np.flatnonzero(~beams.is_feasible)
    again = speedup.solve(space, scores[broken])
    assert again.labels.tolist() == found.labels[broken].tolist()
    assert speedup.stats["broken"] == 2 * len(broken)


def test_best_labels_that_obey_are_the_answer_without_a_search():
    for space in SPACES:
        scores = inputs(space, 200)
        likely = np.stack(
            [
                scores[:, a:b].argmax(axis=1)
                for a, b in zip(space.offsets[:-1], space.offsets[1:], strict=True)
            ],
            axis=1,
        )
        easy = space.holds(likely)
        wrong = LearnedBeam(
            width=1, step=0.1
        )  # has learned from one input, and thinks little of others
        wrong.learn(space, inputs(space, 1, 7))
        found = wrong.solve(space, scores)
        assert found.labels[easy].tolist() == likely[easy].tolist()
        assert (found.status[easy] == Status.OPTIMAL).all()
        assert wrong.stats["inputs"] == 200
        # With a theta some scores are not looked at, and so nothing is known at sight.
        lazy = wrong.with_theta(1e9)
        searched = wrong.searched(space, scores)
        assert lazy.solve(space, scores).labels[searched.is_feasible].tolist() == (
            searched.labels[searched.is_feasible].tolist()
        )


def test_with_proof_every_answer_has_its_true_gap():
    space, scores = SPACES[1], inputs(SPACES[1], 40, 5)
    loose, found = (taught(proof=proof).solve(space, scores) for proof in (False, True))
    best = Exact().solve(space, scores)
    assert found.labels.tolist() == loose.labels.tolist()
    assert (found.bound >= best.value - 1e-9).all()
    assert (found.bound <= loose.bound + 1e-9).all()
    assert found.gap.mean() < 0.5 * loose.gap.mean()
    assert found.optimal.sum() > loose.optimal.sum()
    assert found.value[found.optimal] == pytest.approx(best.value[found.optimal])


# -- what h decides alone -----------------------------------------------------------------


def test_a_smaller_theta_skips_more():
    speedup, space = taught(), SPACES[2]
    scores = inputs(space, 60, 6)
    skipped = []
    for theta in (None, 1e9, 0.5, 0.1, 0.0):
        one = speedup.with_theta(theta)
        beams = one.searched(space, scores)
        assert one.stats["skipped"] == beams.skipped.sum()
        assert one.stats["steps"] == 60 * len(space.variables)
        skipped.append(int(beams.skipped.sum()))
    assert skipped[:2] == [0, 0]
    assert skipped == sorted(skipped)
    assert 0 < skipped[-1] < 60 * len(space.variables)


class Told(LazyScores):
    """Scores that are there, and what was asked of them."""

    def __init__(self, space, scores):
        super().__init__(space, len(scores))
        self.all, self.asked, self.rounds = scores, [], 0

    def fill(self, wanted):
        for told, inputs, slots in wanted:
            told.rounds += 1
            starts = [*told.space.offsets[:-1].tolist(), *told.space.factor_offsets.tolist()]
            for i, slot in zip(inputs.tolist(), slots.tolist(), strict=True):
                span = slice(starts[slot], starts[slot + 1])
                told.array[i, span] = told.all[i, span]
                told.asked.append((slot, i))
            told.known[inputs, slots] = True


def told(spaces, count, seed=0):
    return [LazyProblem(Told(space, inputs(space, count, seed))) for space in spaces]


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("theta", [0.0, 0.1, 1e9, None])
def test_lazily_only_what_decides_something_is_asked_for(theta, width):
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(5)]
    for one, two in pairwise(variables):
        builder.factor(one, two)
    builder.factor(variables[4], variables[0], variables[2])
    builder.require(variables[0]["a"] >> variables[3]["a"])
    spaces = [builder.build(), SPACES[1]]
    speedup = LearnedBeam(width=width, step=0.5, theta=theta)
    for space in spaces:
        speedup.learn(space, inputs(space, 100))
    problems = told(spaces, 30, 1)
    for problem in problems:
        problem.lazy.array[:] = np.nan
    before = speedup.stats.now()
    found = speedup.searched_lazily(problems)
    counted = {name: now - before[name] for name, now in speedup.stats.now().items()}
    assert counted["inputs"] == 60
    assert counted["skipped"] == sum(int(lazy.skipped.sum()) for lazy in found)
    for problem, lazy in zip(problems, found, strict=True):
        space, asked = problem.space, problem.lazy.asked
        n, eager = len(space.variables), speedup.searched(space, problem.lazy.all)
        for one, other in zip(eager, lazy, strict=True):
            assert one.tolist() == other.tolist()
        assert len(asked) == len(set(asked))  # nothing twice
        per_variable = [each for each in asked if each[0] < n]
        assert len(per_variable) == 30 * n - eager.skipped.sum()
        assert (eager.skipped.sum() > 0) == (theta is not None and theta < 1)
        if theta is None or theta >= 1:
            assert len(asked) == 30 * (n + len(space.factors))


def test_lazily_one_node_sees_ahead():
    """By hand: entities look at nothing, relations at them, and half of those at the others."""
    spaces = [entity_relation_space(n) for n in (2, 4)]
    problems = told(spaces, 5)
    LearnedBeam(width=1, theta=1e9).searched_lazily(problems)
    assert max(problem.lazy.rounds for problem in problems) == 5  # and there are 16 steps
    for problem in problems:
        assert len(problem.lazy.asked) == 5 * len(problem.space.variables)


def test_lazily_no_groups_and_no_inputs_are_nothing_to_ask():
    (problem,) = told([SPACES[1]], 0)
    (found,) = LearnedBeam(theta=0.1).searched_lazily([problem])
    assert found.labels.shape == (0, len(SPACES[1].variables))
    assert LearnedBeam(theta=0.1).searched_lazily([]) == []
    assert list(LearnedBeam(theta=0.1).answer_all([])) == []
    assert problem.lazy.rounds == 0


@pytest.mark.parametrize("theta", [0.0, 0.1, 1e9])
def test_lazily_answers_are_those_by_all_scores_and_values_are_known_or_not_told(theta):
    speedup, space = taught().with_theta(theta), SPACES[2]
    (problem,) = told([space], 40, 6)
    lazy = speedup.solve(space, problem)
    eager = speedup.solve(space, problem.lazy.all)
    assert lazy.labels.tolist() == eager.labels.tolist()
    known = problem.lazy.known.all(axis=1)
    assert known.all() == (theta == 1e9)
    assert np.isnan(lazy.value[~known]).all()
    assert (lazy.gap[~known] == np.inf).all()
    assert not lazy.optimal[~known].any()
    for name in ("value", "bound", "status", "source"):
        assert getattr(lazy, name)[known].tolist() == getattr(eager, name)[known].tolist()


def test_an_engine_that_looks_at_all_scores_has_them_worked_out():
    (problem,) = told([SPACES[1]], 10)
    best = Exact().solve(SPACES[1], problem.lazy.all)
    assert Exact().solve(SPACES[1], problem).labels.tolist() == best.labels.tolist()
    assert problem.lazy.known.all()
    assert problem.lazy.rounds == 1


def test_lazily_proofs_look_at_all_scores_in_the_end():
    speedup, space = taught(proof=True).with_theta(0.0), SPACES[2]
    (problem,) = told([space], 40, 6)
    lazy, eager = speedup.solve(space, problem), speedup.solve(space, problem.lazy.all)
    for one, other in zip(lazy.arrays, eager.arrays, strict=True):
        assert one.tolist() == other.tolist()


def test_teachers_that_look_at_features_need_all_of_them():
    assert not LearnedBeam(RGS(), theta=0.1, share=0.5).supports
    assert LearnedBeam(RGS(), theta=0.1).supports


# -- learning in service ------------------------------------------------------------------


def test_a_share_of_the_inputs_goes_to_the_engine():
    space, counting = SPACES[1], Counting()
    scores = inputs(space, 400)
    speedup = LearnedBeam(counting, width=2, share=0.25)
    found = speedup.solve(space, scores)
    served = speedup.stats
    assert counting.asked == [served["taught"]]
    assert 60 < served["taught"] < 140
    assert served["inputs"] == 400 - served["taught"]
    assert served["mistakes"] > 0
    best = Exact().solve(space, scores)
    by_engine = found.source != FoundBy.BEAM
    # Some others are answered at sight.
    assert served["taught"] <= by_engine.sum() < served["taught"] + 10
    assert found.labels[by_engine].tolist() == best.labels[by_engine].tolist()
    assert found.value.tolist() == space.value(scores, found.labels).tolist()
    # Which ones depends on their scores alone.
    again = LearnedBeam(Counting(), width=2, share=0.25).solve(space, scores[::-1])
    assert (again.source != FoundBy.BEAM)[::-1].tolist() == by_engine.tolist()


def test_counters_say_what_was_done():
    space, speedup = SPACES[0], LearnedBeam(width=1)
    assert not any(speedup.stats.now().values())
    mistakes = speedup.learn(space, inputs(space, 20))
    assert list(speedup.stats.now().values()) == [0, 0, 20, mistakes, 0, 0]
    beams = speedup.searched(space, inputs(space, 10, 1))
    assert list(speedup.stats.now().values()) == [10, 0, 20, mistakes, 40, 0]
    speedup.solve(space, inputs(space, 10, 1))
    assert list(speedup.stats.now().values()) == [
        20,
        (~beams.is_feasible).sum(),
        20,
        mistakes,
        80,
        0,
    ]


def test_threads_lose_no_count_and_learn_from_every_mistake():
    speedup = LearnedBeam(width=2)
    batches = [(SPACES[k % 3], inputs(SPACES[k % 3], 4, k)) for k in range(120)]

    def work(batch):
        space, scores = batch
        found = speedup.solve(space, scores)
        mistakes = speedup.learn(space, scores)
        assert len(speedup.weights)
        assert speedup.stats["inputs"] > 0
        return bool(space.holds(found.labels).all()), mistakes

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(work, batches))
    assert all(is_feasible for is_feasible, _ in done)
    served = speedup.stats
    assert (served["inputs"], served["taught"]) == (480, 480)
    assert served["mistakes"] == sum(mistakes for _, mistakes in done)
    assert served["steps"] == sum(scores.shape[0] * len(s.variables) for s, scores in batches)
    assert speedup.knowledge.clock == 480


# -- what is learned can be given away ----------------------------------------------------


def test_knowledge_of_which_a_part_is_missing_is_refused():
    known = taught().knowledge
    with pytest.raises(SettingError, match="weights are fewer than its families of features have"):
        LearnedBeam(learned=known._replace(weights=known.weights[:-1]))


def test_knowledge_grows_with_spaces_of_another_kind():
    speedup = taught()
    size = len(speedup.weights)
    builder = SpaceBuilder()
    builder.factor(builder.variable("x", "ab"), builder.variable("y", "ab"))
    speedup.learn(builder.build(), inputs(builder.build(), 5))
    known = speedup.knowledge
    assert len(known.weights) == len(known.sums) == size + 4
    assert max(known.origins.values()) == size
    assert not known.weights.flags.writeable


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize(
    "copied",
    [
        lambda speedup: pickle.loads(pickle.dumps(speedup)),  # noqa: S301
        copy.deepcopy,
        lambda speedup: speedup.with_theta(None),
        lambda speedup: replace(speedup, learned=speedup.knowledge),
        lambda speedup: LearnedBeam.restored(*speedup.saved()),
    ],
    ids=["pickled", "deeply", "with another theta", "by its knowledge", "saved"],
)
def test_a_copy_learns_on_as_the_original_does(copied, average):
    speedup = LearnedBeam(width=4, average=average, share=0.3)
    speedup.learn(SPACES[1], inputs(SPACES[1], 60))
    speedup.next_taught(5)
    other = copied(speedup)
    before = other.weights.tolist()
    assert before == speedup.weights.tolist()
    for space in SPACES[:2]:
        speedup.learn(space, inputs(space, 60, 1))
    assert other.weights.tolist() == before  # nothing is shared
    for space in SPACES[:2]:
        other.learn(space, inputs(space, 60, 1))
    assert other.knowledge[0] == speedup.knowledge[0]
    assert other.weights.tolist() == speedup.weights.tolist()
    assert not other.stats["inputs"]
    if other.share:
        assert other.next_taught(9).tolist() == speedup.next_taught(9).tolist()


# -- with other engines -------------------------------------------------------------------


def test_long_rules_are_learned():
    """At most two of nine: a tally is all that shows."""
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(9)]
    builder.require(at_most(2, [x["a"] for x in variables]))
    space = builder.build()
    speedup, scores = LearnedBeam(width=4, step=0.2), inputs(space, 300)
    scores[:, space.offsets[:-1]] += 0.5
    before = speedup.searched(space, scores).is_feasible.mean()
    for _ in range(3):
        speedup.learn(space, scores)
    assert speedup.searched(space, scores).is_feasible.mean() > max(0.8, before + 0.3)


# -- settings and errors ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inner": Exact}, r"inner is one such as Exact\(\)"),
        ({"learned": ({}, np.zeros(0))}, "learned is one such as the knowledge of another"),
        ({"theta": -0.1}, "theta is a number of at least 0, or None, got -0.1"),
        ({"theta": np.nan}, "theta is a number of at least 0"),
        ({"theta": "much"}, "theta is a number of at least 0"),
        ({"step": 0.0}, "step is a number above 0"),
        ({"step": None}, "step is a number above 0"),
        ({"share": 1.5}, "share is a number from 0 to 1"),
        ({"share": np.nan}, "share is a number from 0 to 1"),
    ],
)
def test_settings_that_cannot_be_are_refused(options, message):
    with pytest.raises(SettingError, match=message):
        LearnedBeam(**options)
