"""`LearnedRestarts`: answers as good as those of `RGS`, from fewer climbs the more it has seen."""

import copy
import pickle

import numpy as np
import pytest

from rote.engines import Exact, FoundBy, Problem, Status
from rote.errors import SettingError
from rote.inference.approximate import RGS, LearnedRestarts
from rote.inference.problem import Context
from rote.model import prepare
from rote.space.losses import F1Loss
from rote.tasks.multilabel import MultiLabel
from tests.inference.approximate.test_greedy import Fixed

N, WIDE = 8, 5


def made_up(labels, seed):
    """A task with pairs that disagree, feature vectors, and weights that make it hard."""
    rng = np.random.default_rng(seed)
    task = MultiLabel(tuple(f"label {k}" for k in range(labels)))
    X, Y = rng.normal(size=(60, WIDE)), rng.integers(2, size=(60, labels))
    prepared = prepare(task, list(X), list(Y))
    return task, prepared, 0.5 * rng.normal(size=prepared.layout.size)


@pytest.fixture(scope="module")
def world():
    return made_up(N, 0)


def question(world, term=False):
    _, prepared, weights = world
    (group,) = prepared.groups
    features = prepared.features(group)
    term = F1Loss().term(group.gold) if term else None
    problem = Problem(group.space, features.scores(weights), loss_term=term)
    return group.space, problem, Context(features=features)


def test_answers_are_outputs_with_their_true_value(world):
    space, problem, context = question(world)
    found, needed = LearnedRestarts(RGS(restarts=20)).searched(problem, context)
    best = Exact().solve(space, problem.scores)
    assert (found.value <= best.value + 1e-9).all()
    assert found.value == pytest.approx(space.known_value(problem.scores, found.labels))
    assert found.value.sum() >= 0.98 * best.value.sum()
    assert ((needed >= 1) & (needed <= 20)).all()
    assert (found.source == FoundBy.GREEDY).all()
    assert (found.status == Status.FEASIBLE).all()


def test_others_may_ask_between_two_rounds(world):
    engine = LearnedRestarts(RGS(restarts=5))
    rounds = engine.rounds(*question(world)[1:])
    next(rounds)
    engine.solve(*question(world))
    assert engine.stats["inputs"] == 120
    assert len(list(rounds)) > 0


def test_starts_it_has_learned_lead_further_than_random_ones():
    led, drawn = [], []
    for seed in range(4):
        space, problem, context = question(made_up(20, seed))
        engine = LearnedRestarts(RGS(restarts=20), patience=3)
        for _ in range(6):
            engine.solve(space, problem, context)
        few = RGS(restarts=3)
        again = LearnedRestarts(few, patience=3, learned=engine.weights)
        led.append(again.solve(space, problem, context).value.sum())
        drawn.append(few.solve(space, problem, context).value.sum())
    assert sum(led) > sum(drawn)


def test_no_start_is_climbed_from_twice_and_e_is_not_followed_in_vain(world):
    space, problem, context = question(world)
    search = RGS(alpha=0.8, restarts=12, classifier=Fixed([0] * 8))
    engine = LearnedRestarts(search, patience=12)
    engine.solve(space, problem, context)
    rounds = list(engine.rounds(problem, context))
    starts = np.stack([each.paths.starts for each in rounds])
    for i in range(60):
        assert len({tuple(start) for start in starts[:, i].tolist()}) == 12
    drawn = RGS(0.8, 12, Fixed([0] * 8)).rounds(problem, context)
    # E has learned: it leads to most first starts, and from a few labels of a guess far away.
    assert ((starts[0] > 0).sum(axis=1) > 2).mean() > 0.5
    assert ((next(drawn).paths.starts > 0).sum(axis=1) <= 2).all()
    spent = engine.stats
    assert 0 < spent["learned"] < spent["climbs"]


def test_the_first_start_may_be_that_of_plain_search(world):
    space, problem, context = question(world)
    search = RGS(alpha=0.5, restarts=4, classifier=Fixed([0] * 8))
    engine = LearnedRestarts(search, predict_first_start=False)
    engine.solve(space, problem, context)
    theirs = next(search.rounds(problem, context)).paths.starts.tolist()
    ours = next(engine.rounds(problem, context)).paths.starts.tolist()
    led = next(LearnedRestarts(search, learned=engine.weights).rounds(problem, context))
    assert ours == theirs
    assert led.paths.starts.tolist() != theirs


def test_what_was_done_is_counted(world):
    space, problem, context = question(world)
    engine = LearnedRestarts(RGS(restarts=6), patience=2)
    engine.solve(space, problem, context)
    spent = engine.stats
    assert spent["inputs"] == 60
    assert 2 * 60 < spent["climbs"] <= 6 * 60
    assert 0 < spent["learned"] <= spent["climbs"]
    engine.solve(space, problem.rows(slice(5)), context.rows(slice(5)))
    assert engine.stats["inputs"] == 65


def test_an_input_is_left_when_nothing_better_was_found(world):
    space, problem, context = question(world)
    one = LearnedRestarts(RGS(restarts=50), patience=1)
    one.solve(space, problem, context)
    assert one.stats["climbs"] < 20 * 60
    alone = LearnedRestarts(RGS(restarts=1))
    found, needed = alone.searched(problem, context)
    assert alone.stats["climbs"] == 60
    assert needed.tolist() == [1] * 60
    assert found.labels.tolist() == RGS(restarts=1).solve(space, problem, context).labels.tolist()


@pytest.mark.parametrize("adagrad", [False, True])
def test_what_a_start_is_worth_is_learned(world, adagrad):
    space, problem, context = question(world)
    engine = LearnedRestarts(RGS(restarts=5), adagrad=adagrad, tolerance=0.0)
    assert engine.weights is None
    errors = []
    for _ in range(12):
        found = engine.solve(space, problem, context)
        said = space.known_value(context.features.scores(engine.weights), found.labels)
        errors.append(np.abs(said - found.value).mean())
    # Much nearer than a number for all inputs could be.
    assert max(errors) < 0.5 * found.value.std()


def test_what_it_is_right_about_is_not_learned_again(world):
    space, problem, context = question(world)
    engine = LearnedRestarts(RGS(restarts=3), tolerance=1e6)
    engine.solve(space, problem, context)
    assert not engine.weights.any()


@pytest.mark.parametrize("adagrad", [True, False])
def test_a_copy_learns_on_as_the_original_does(world, adagrad):
    space, problem, context = question(world)
    first, then = (
        (space, problem.rows(rows), context.rows(rows)) for rows in (slice(20), slice(20, None))
    )
    engine = LearnedRestarts(RGS(restarts=3), step=0.2, adagrad=adagrad)
    engine.solve(*first)
    copies = [pickle.loads(pickle.dumps(engine)), copy.deepcopy(engine)]  # noqa: S301
    engine.solve(*then)
    for other in copies:
        assert other.weights.tolist() != engine.weights.tolist()  # nothing is shared
        other.solve(*then)
        assert other.weights.tolist() == engine.weights.tolist()


def test_without_vectors_or_with_those_of_another_model_it_refuses(world):
    space, problem, context = question(world)
    engine = LearnedRestarts()
    with pytest.raises(SettingError, match="the context has none"):
        engine.solve(space, problem.scores)
    with pytest.raises(SettingError, match="has learned 3 weights"):
        LearnedRestarts(learned=np.zeros(3)).solve(space, problem, context)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"step": 0.0}, "step is a number above 0 and below 2"),
        ({"step": 2.0}, "step is a number above 0 and below 2"),
        ({"passes": 0}, "passes is a whole number"),
        ({"patience": 1.5}, "patience is a whole number"),
        ({"tolerance": -0.1}, "tolerance is a number of at least 0"),
        ({"predict_first_start": "yes"}, "predict_first_start is True or False"),
        ({"outputs": 1}, "outputs is a whole number of at least 2"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, match):
    with pytest.raises(SettingError, match=match):
        LearnedRestarts(**settings)
