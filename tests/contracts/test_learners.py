"""One contract for every learner: odd data, weights of examples, resuming, any exact engine.

Learners are found, not listed: whatever `rote.learning` exports with an ``iterate`` is held to
all of this.
"""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pytest

import rote.learners
from rote import Amortized, BranchAndBound, Exact, Exhaustive, Milp
from rote.errors import DataError, SettingError
from rote.features import Templates
from rote.inference.wrappers.decomposed import Decomposed, HammingBall, Sign, SignedComponents
from rote.learning import (
    EpsilonSchedule,
    EpsilonStage,
    IndependentPerceptron,
    Perceptron,
    StructuredSVM,
    Subgradient,
    fit,
)
from rote.learning.checkpoints import load_state, save_state
from rote.model import Model, prepare
from rote.tasks.tagging import Tagging
from tests.small_tasks import ORDERS, TAGGING, Order, Pick, tagged

# -- every learner there is ------------------------------------------------------------------


def exported_learners() -> dict[str, type]:
    """What `rote.learners` promises that iterates, but for the protocol itself."""
    found = {name: getattr(rote.learners, name) for name in dir(rote.learners)}
    return {
        name: kind
        for name, kind in found.items()
        if inspect.isclass(kind)
        and hasattr(kind, "iterate")
        and not getattr(kind, "_is_protocol", False)
    }


# A learner made with no argument is tested without being named here. Add a line for every
# further way of using it.
VARIANTS = {
    "Local(average=False)": IndependentPerceptron(average=False),
    "Perceptron(average=False)": Perceptron(average=False),
    "Perceptron(update='early')": Perceptron(update="early"),
    "StructuredSVM(squared=False)": StructuredSVM(squared=False),
    "StructuredSVM(online_epochs=0)": StructuredSVM(online_epochs=0, patience=1),
    "Staged(StructuredSVM)": EpsilonSchedule(StructuredSVM()),
    "Staged(Perceptron, two stages)": EpsilonSchedule(
        Perceptron(), (EpsilonStage(0.0, 2), EpsilonStage(0.0))
    ),
    "Staged(Subgradient)": EpsilonSchedule(Subgradient()),
    "Staged(Local)": EpsilonSchedule(IndependentPerceptron()),
}


def all_learners():
    plain = {}
    for name, kind in exported_learners().items():
        try:
            plain[name] = kind()
        except TypeError:
            continue  # reported by the test below
    return {**plain, **VARIANTS}


LEARNERS = all_learners()

every_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS.keys())
# Reuse is held to less: outputs of one example are taken for others, with whatever importance.
RESUMED = {**LEARNERS, "StructuredSVM(reuse=True)": StructuredSVM(reuse=True, online_epochs=1)}
every_resumed = pytest.mark.parametrize("learner", RESUMED.values(), ids=RESUMED.keys())
XS, YS = tagged(15)


def changed(learner, **settings):
    """The learner with other settings; those of a staged one are the learner's inside it."""
    if isinstance(learner, EpsilonSchedule):
        return dataclasses.replace(learner, learner=changed(learner.learner, **settings))
    return dataclasses.replace(learner, **settings)


def has(learner, name):
    return hasattr(learner.learner if isinstance(learner, EpsilonSchedule) else learner, name)


def begun(learner, task, prepared, engine=None):
    """A model with zero weights, and an engine that the learner takes."""
    engine = engine or Exact()
    if isinstance(learner, EpsilonSchedule) and not isinstance(engine, Amortized):
        engine = Amortized(engine, admission="always")
    return Model(task, prepared.layout, prepared.layout.zeros(), engine)


def trained(learner, task, xs, ys, engine=None, **options):
    prepared = prepare(task, xs, ys, **options)
    return fit(learner, begun(learner, task, prepared, engine), prepared)


def states_of(learner, task, xs, ys, state=None, engine=None, **options):
    prepared = prepare(task, xs, ys, **options)
    model = begun(learner, task, prepared, engine)
    return [state.kept() for state in learner.iterate(model, prepared, state)]


def words(*names):
    return tuple((name,) for name in names)


def test_the_learners_that_must_be_there_are_found():
    must = {"IndependentPerceptron", "Perceptron", "StructuredSVM", "EpsilonSchedule"}
    assert must <= set(exported_learners())
    tested = {type(learner).__name__ for learner in LEARNERS.values()}
    missing = set(exported_learners()) - tested
    assert not missing, (
        f"{sorted(missing)} cannot be made without arguments; "
        "add one of each to VARIANTS in tests/contracts/test_learners.py"
    )


# -- what every learner can learn from -----------------------------------------------------------


@every_learner
def test_separable_data_is_learned_to_zero_mistakes(learner):
    task = Tagging(("O", "V", "N"), Templates(("word",), ("bias", "word[0]")))
    kind = {"a": "O", "the": "O", "dog": "N", "cat": "N", "ran": "V", "sat": "V"}
    rng = np.random.default_rng(3)
    xs = [words(*rng.choice(list(kind), size=rng.integers(1, 5))) for _ in range(25)]
    ys = [tuple(kind[word] for (word,) in x) for x in xs]
    assert trained(learner, task, xs, ys).predict(xs) == ys


@every_learner
def test_a_label_that_no_example_has_is_learned_to_be_wrong(learner):
    # It is the first, which is what weights that know nothing predict.
    task = Tagging(("never", "a", "b"), Templates(("word",), ("word[0]",)))
    xs = [words("x", "y"), words("y"), words("x", "x", "y")]
    ys = [("a", "b"), ("b",), ("a", "a", "b")]
    model = trained(learner, task, xs, ys)
    assert np.isfinite(model.weights).all()
    assert model.predict(xs) == ys


@every_learner
def test_examples_without_features_teach_nothing_and_harm_nothing(learner):
    task = Tagging(("a", "b"), lambda x: [[] if word == "-" else [word] for (word,) in x], order=0)
    xs = [words("-"), words("x", "-"), words("y")]
    ys = [("b",), ("b", "a"), ("a",)]
    model = trained(learner, task, xs, ys)
    assert np.isfinite(model.weights).all()
    assert model.predict([words("x"), words("y"), words("-")]) == [("b",), ("a",), ("a",)]


@every_learner
def test_data_without_any_feature_gives_a_model_without_weights(learner):
    task = Tagging(("a", "b"), lambda x: [[] for _ in x], order=0)
    model = trained(learner, task, [words("x"), words("y", "z")], [("b",), ("a", "b")])
    assert model.weights.shape == (0,)
    assert model.predict([words("x", "x")]) == [("a", "a")]


@every_learner
def test_ragged_sizes_and_the_empty_input_work(learner):
    xs, ys = tagged(12, seed=5, longest=9)
    xs.insert(4, ())
    ys.insert(4, ())
    model = trained(learner, TAGGING, xs, ys)
    found = model.predict([*xs, ()])
    assert [len(y) for y in found] == [len(x) for x in [*xs, ()]]
    assert found[-1] == ()


@every_learner
def test_variables_of_several_types_with_names_arrays_and_constants_work(learner):
    xs, ys = [x for x, _ in ORDERS], [y for _, y in ORDERS]
    model = trained(learner, Order(), xs, ys)
    assert model.predict(xs) == ys
    assert {block.name for block in model.layout.blocks} == {"dish", "size", "day", "pair"}


@every_learner
def test_labels_with_vectors_of_their_own_work(learner):
    xs = [[["old"], ["new"]], [["new", "red"], ["old"], ["old", "red"]], [["old"], [], ["new"]]]
    ys = [1, 0, 2]
    model = trained(learner, Pick(), xs, ys)
    assert model.predict(xs) == ys
    assert model.predict([[["red"], ["old"], [], ["new"]]]) == [3]


# -- what every learner refuses ------------------------------------------------------------------


@every_learner
def test_nothing_to_learn_from_is_refused(learner):
    with pytest.raises(DataError, match="no examples"):
        trained(learner, TAGGING, [], [])
    with pytest.raises(DataError, match="no outputs"):
        trained(learner, TAGGING, XS, None)


@every_learner
def test_settings_are_checked_when_the_learner_is_made(learner):
    with pytest.raises(SettingError, match=r"iterations is .*at least 1, got 0"):
        changed(learner, iterations=0)


# -- states --------------------------------------------------------------------------------------


@every_learner
def test_states_are_counted_from_one_and_only_the_last_is_done(learner):
    states = states_of(changed(learner, iterations=7), TAGGING, XS, YS)
    assert [state.iteration for state in states] == list(range(1, len(states) + 1))
    assert not any(state.done for state in states[:-1])
    assert states[-1].done or len(states) == 7
    for state in states:
        assert not state.weights.flags.writeable
        assert np.isfinite(state.weights).all()
        assert state.measures["inferences"] >= 0


@every_learner
def test_states_stay_as_they_were_while_the_learner_goes_on(learner):
    prepared = prepare(TAGGING, XS, YS)
    model = begun(learner, TAGGING, prepared)
    kept, copies = [], []
    for state in changed(learner, iterations=4).iterate(model, prepared):
        kept.append(state)
        copies.append((state.weights.copy(), {k: v.copy() for k, v in state.memory.items()}))
    assert len(kept) > 1
    for state, (weights, memory) in zip(kept, copies, strict=True):
        assert state.weights.tobytes() == weights.tobytes()
        assert all(state.memory[name].tobytes() == memory[name].tobytes() for name in memory)


@every_resumed
@pytest.mark.parametrize("seed", [0, 1])
def test_a_run_resumed_from_any_state_on_disk_ends_bit_for_bit_the_same(learner, seed, tmp_path):
    learner = changed(learner, iterations=6)
    if has(learner, "seed"):
        learner = changed(learner, seed=seed)
    xs, ys = tagged(12, seed)
    states = states_of(learner, TAGGING, xs, ys)
    for state in states[:-1]:
        save_state(state, tmp_path / "state")
        rest = states_of(learner, TAGGING, xs, ys, load_state(tmp_path / "state"))
        assert rest[-1].iteration == states[-1].iteration
        assert rest[-1].weights.tobytes() == states[-1].weights.tobytes()
        for name, array in states[-1].memory.items():
            assert rest[-1].memory[name].tobytes() == array.tobytes()


@every_learner
def test_the_same_settings_give_the_same_weights_and_leave_the_data_alone(learner):
    prepared = prepare(TAGGING, XS, YS)
    model = begun(learner, TAGGING, prepared)
    once, again = fit(learner, model, prepared), fit(learner, model, prepared)
    assert once.weights.tobytes() == again.weights.tobytes()
    assert not model.weights.any()


# -- weights of examples ---------------------------------------------------------------------------


@every_learner
def test_what_an_example_of_weight_zero_says_does_not_matter(learner):
    sample_weight = np.ones(len(XS))
    sample_weight[4] = 0.0
    other = [*YS]
    other[4] = tuple("B-X" if label == "O" else "O" for label in YS[4])
    other[4] = tuple("O" if label == "I-X" else label for label in other[4])
    assert other[4] != YS[4]
    one, two = (
        trained(learner, TAGGING, XS, ys, sample_weight=sample_weight).weights for ys in (YS, other)
    )
    assert one.tobytes() == two.tobytes()
    assert one.any()


@pytest.mark.parametrize(
    "learner",
    [IndependentPerceptron(), Perceptron(), Perceptron(average=False, update="largest")],
    ids=["local", "perceptron", "violations"],
)
def test_a_perceptron_whose_examples_all_weigh_two_has_twice_the_weights(learner):
    ones, twos = (
        trained(learner, TAGGING, XS, YS, sample_weight=np.full(len(XS), weight)).weights
        for weight in (1.0, 2.0)
    )
    assert (twos == 2.0 * ones).all()


@pytest.mark.parametrize("squared", [True, False])
def test_the_svm_takes_weight_two_for_an_example_twice_and_weight_zero_for_none(squared):
    learner = StructuredSVM(C=0.3, squared=squared, delta=1e-7, iterations=1000, passes=300)
    sample_weight = np.tile([2.0, 1.0, 0.0], 5)
    weighted = trained(learner, TAGGING, XS, YS, sample_weight=sample_weight)
    chosen = np.repeat(np.arange(15), sample_weight.astype(int))
    layout = weighted.layout  # the same features, also of the examples that are left out
    repeated = trained(
        learner, TAGGING, [XS[i] for i in chosen], [YS[i] for i in chosen], layout=layout
    )
    assert np.abs(weighted.weights - repeated.weights).max() < 1e-4


# -- engines and threads ---------------------------------------------------------------------


@every_learner
def test_every_exact_engine_leads_to_the_same_weights(learner):
    learner = changed(learner, iterations=4)
    xs, ys = tagged(6, seed=2, longest=4)
    exact, *others = (
        trained(learner, TAGGING, xs, ys, engine).weights.tobytes()
        for engine in (Exact(), Exhaustive(), BranchAndBound(), Milp())
    )
    assert [weights == exact for weights in others] == [True] * 3


THREADED = {name: one for name, one in LEARNERS.items() if has(one, "n_jobs")}


@pytest.mark.parametrize("learner", THREADED.values(), ids=THREADED.keys())
def test_threads_change_the_time_and_not_the_weights(learner):
    learner = changed(learner, iterations=6)
    one, three = (
        trained(changed(learner, n_jobs=jobs), TAGGING, XS, YS).weights for jobs in (1, 3)
    )
    assert one.tobytes() == three.tobytes()


# -- learning from what is around gold ---------------------------------------------------------

DECOMPOSITIONS = {
    "HammingBall(2)": HammingBall(2),
    "HammingBall(2, sample)": HammingBall(2, sample=6),
    "SignedComponents": SignedComponents(),
    "SignedComponents(no fallback)": SignedComponents(Sign.SAME, fallback=False),
}
every_decomposition = pytest.mark.parametrize(
    "decomposition", DECOMPOSITIONS.values(), ids=DECOMPOSITIONS.keys()
)


@every_learner
@every_decomposition
def test_what_words_tell_is_learned_from_what_is_around_gold(learner, decomposition):
    task = Tagging(("O", "V", "N"), Templates(("word",), ("bias", "word[0]")))
    kind = {"a": "O", "the": "O", "dog": "N", "cat": "N", "ran": "V", "sat": "V"}
    rng = np.random.default_rng(3)
    xs = [words(*rng.choice(list(kind), size=rng.integers(1, 5))) for _ in range(25)]
    ys = [tuple(kind[word] for (word,) in x) for x in xs]
    engine = Decomposed(Exact(), decomposition)
    model = trained(learner, task, xs, ys, engine)
    assert model.predict(xs) == ys
    local = isinstance(
        learner.learner if isinstance(learner, EpsilonSchedule) else learner, IndependentPerceptron
    )
    assert (engine.stats["inputs"] == 0) == local


@every_learner
@every_decomposition
def test_a_decomposed_run_resumed_from_a_state_ends_bit_for_bit_the_same(
    learner, decomposition, tmp_path
):
    learner = changed(learner, iterations=4)
    xs, ys = tagged(10, seed=3)

    def states(state=None):
        engine = Decomposed(Exact(), decomposition)
        return states_of(learner, TAGGING, xs, ys, state, engine)

    whole = states()
    for state in whole[:-1]:
        save_state(state, tmp_path / "state")
        rest = states(load_state(tmp_path / "state"))
        assert rest[-1].iteration == whole[-1].iteration
        assert rest[-1].weights.tobytes() == whole[-1].weights.tobytes()
        for name, array in whole[-1].memory.items():
            assert rest[-1].memory[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("learner", THREADED.values(), ids=THREADED.keys())
@every_decomposition
def test_threads_change_the_time_of_decomposed_learning_and_not_the_weights(learner, decomposition):
    learner, weights, counts = changed(learner, iterations=4), [], []
    for jobs in (1, 3):
        engine = Decomposed(Exact(), decomposition)
        model = trained(changed(learner, n_jobs=jobs), TAGGING, XS, YS, engine)
        weights.append(model.weights.tobytes())
        counts.append(engine.stats.now())
    assert weights[0] == weights[1]
    assert counts[0] == counts[1]


@every_learner
def test_with_everything_around_gold_decomposed_learning_is_global_learning(learner):
    learner = changed(learner, iterations=4)
    xs, ys = tagged(8, seed=2, longest=4)
    exact, around, asked = (
        trained(learner, TAGGING, xs, ys, engine).weights.tobytes()
        for engine in (
            Exact(),
            Decomposed(Exact(), HammingBall(4)),
            Decomposed(Milp(), lambda space, _: [range(len(space.variables))]),
        )
    )
    assert around == exact
    assert asked == exact


@every_learner
def test_what_remembers_changes_the_time_of_decomposed_learning_and_not_the_weights(learner):
    learner = changed(learner, iterations=4)
    plain, above, below = (
        trained(learner, TAGGING, XS, YS, engine).weights.tobytes()
        for engine in (
            Decomposed(Exact(), SignedComponents()),
            Amortized(Decomposed(Exact(), SignedComponents()), admission="always"),
            Decomposed(Amortized(admission="always"), SignedComponents()),
        )
    )
    assert above == plain
    assert below == plain


def test_outputs_of_other_examples_are_not_taken_again_around_gold():
    for engine in (Decomposed(), Amortized(Decomposed()), Decomposed(Amortized())):
        with pytest.raises(SettingError, match=r"reuse .* or Decomposed"):
            trained(StructuredSVM(reuse=True), TAGGING, XS, YS, engine)
