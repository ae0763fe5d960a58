"""Training in one call: the same as the loop by hand, stopped and resumed or not."""

import re
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from rote import RGS, Amortized, Exact, Exhaustive, Milp
from rote.errors import DataError, LabelError, ModelError, SettingError
from rote.inference.approximate.initial import UnaryClassifier
from rote.inference.stores import MemoryStore
from rote.learning import IndependentPerceptron, Perceptron, StructuredSVM, Subgradient, fit
from rote.learning.checkpoints import load_state, save_state
from rote.learning.training import run_of, train
from rote.model import Model, prepare
from rote.space.losses import Hamming
from tests.small_tasks import ORDERS, TAGGING, Order, tagged

XS, YS = tagged(15)
LEARNERS = [
    IndependentPerceptron(iterations=5),
    Perceptron(iterations=5),
    StructuredSVM(C=1.0, iterations=5),
]


def about(learner, engine=None, task=TAGGING):
    """What a run of a learner on all examples is about."""
    prepared = prepare(task, XS, YS)
    model = Model(task, prepared.layout, prepared.layout.zeros(), engine or Exact())
    return run_of(learner, model, prepared)


def name_of(learner):
    return type(learner).__name__


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_it_is_the_loop_by_hand(learner):
    prepared = prepare(TAGGING, XS, YS)
    model = Model(TAGGING, prepared.layout, prepared.layout.zeros())
    by_hand = fit(learner, model, prepared)
    trained = train(TAGGING, iter(XS), iter(YS), learner=learner)
    assert trained.weights.tobytes() == by_hand.weights.tobytes()
    assert trained.engine == Exact()
    assert trained.task is TAGGING


def test_without_a_learner_a_structured_svm_learns():
    ours, theirs = train(TAGGING, XS, YS), train(TAGGING, XS, YS, learner=StructuredSVM())
    assert ours.weights.tobytes() == theirs.weights.tobytes()


def test_engine_importance_and_hashing_reach_the_model():
    model = train(
        Order(),
        [x for x, _ in ORDERS],
        [y for _, y in ORDERS],
        learner=Perceptron(iterations=2),
        engine=Exhaustive(),
        hashed={"words": 4},
    )
    assert model.engine == Exhaustive()
    assert len(model.layout.indices["words"]) == 16
    none = train(TAGGING, XS, YS, learner=IndependentPerceptron(), sample_weight=np.zeros(len(XS)))
    assert not none.weights.any()


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
@pytest.mark.parametrize("stopped", [1, 3])
def test_a_training_that_is_killed_and_resumed_ends_with_the_same_weights(
    tmp_path, learner, stopped
):
    @dataclass(frozen=True)
    class Killed:
        def iterate(self, model, prepared, state=None):
            for state in learner.iterate(model, prepared, state):  # noqa: B020
                if state.iteration > stopped:
                    raise KeyboardInterrupt
                yield state

    Killed.__name__ = "Killed"
    path = tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        train(TAGGING, XS, YS, learner=Killed(), checkpoint=path)
    state = load_state(path)
    assert state.iteration == stopped
    save_state(state, path, about(learner))
    resumed = train(TAGGING, XS, YS, learner=learner, checkpoint=path, resume=True)
    whole = train(TAGGING, XS, YS, learner=learner)
    assert resumed.weights.tobytes() == whole.weights.tobytes()
    assert load_state(path).weights.tobytes() == whole.weights.tobytes()


def test_more_iterations_go_on_from_where_fewer_ended(tmp_path):
    path = tmp_path / "state"
    train(TAGGING, XS, YS, learner=Perceptron(iterations=2), checkpoint=path)
    more = train(TAGGING, XS, YS, learner=Perceptron(iterations=5), checkpoint=path, resume=True)
    whole = train(TAGGING, XS, YS, learner=Perceptron(iterations=5))
    assert more.weights.tobytes() == whole.weights.tobytes()


def test_a_learner_that_was_done_is_not_moved_by_resuming(tmp_path):
    path = tmp_path / "state"
    xs, ys = XS[:1], YS[:1]
    done = train(TAGGING, xs, ys, learner=Perceptron(iterations=50), checkpoint=path)
    assert load_state(path).done
    again = train(TAGGING, xs, ys, learner=Perceptron(iterations=50), checkpoint=path, resume=True)
    assert again.weights.tobytes() == done.weights.tobytes()


def test_resuming_without_a_file_begins_at_the_beginning(tmp_path):
    path = tmp_path / "state"
    learner = IndependentPerceptron(iterations=3)
    model = train(TAGGING, XS, YS, learner=learner, checkpoint=path, resume=True)
    assert model.weights.tobytes() == train(TAGGING, XS, YS, learner=learner).weights.tobytes()
    assert path.is_file()


def test_a_checkpoint_without_resume_is_begun_anew(tmp_path):
    path = tmp_path / "state"
    train(TAGGING, XS, YS, learner=IndependentPerceptron(iterations=3), checkpoint=path)
    train(TAGGING, XS, YS, learner=IndependentPerceptron(iterations=2), checkpoint=path)
    assert load_state(path).iteration == 2


def test_a_checkpoint_of_another_training_is_not_written_over_unless_it_may_be(tmp_path):
    path = tmp_path / "state"
    train(TAGGING, XS, YS, learner=IndependentPerceptron(iterations=3), checkpoint=path)
    before = path.read_bytes()
    for changes in ({"learner": Perceptron()}, {"engine": RGS()}, {"xs": XS[:5], "ys": YS[:5]}):
        settings = {"xs": XS, "ys": YS, "learner": IndependentPerceptron(iterations=3), **changes}
        with pytest.raises(ModelError, match="name another file, or say overwrite=True to lose it"):
            train(TAGGING, **settings, checkpoint=path)
        assert path.read_bytes() == before
    settings = {"learner": Perceptron(iterations=2), "checkpoint": path, "overwrite": True}
    train(TAGGING, XS, YS, **settings)
    assert load_state(path).iteration == 2
    with pytest.raises(SettingError, match=r"resume .* overwrite .* say only one"):
        train(TAGGING, XS, YS, **settings, resume=True)


def test_states_are_written_every_so_often_and_at_the_end(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(
        "rote.learning.training.save_state", lambda state, *_: written.append(state.iteration)
    )
    learner = StructuredSVM(C=10.0, delta=1e-9, iterations=5)
    train(TAGGING, XS, YS, learner=learner, checkpoint=tmp_path / "state", every=2)
    assert written == [2, 4, 5]


def no_rules(builder, tokens):
    pass


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"learner": StructuredSVM(C=2.0)}, "the C of the learner was 0.1 and is 2.0 now"),
        (
            {"learner": StructuredSVM(loss=Hamming({"O": 2.0}))},
            r"the weights of the loss of the learner was \(\) and is \(\('O', 2.0\)\) now",
        ),
        ({"learner": Perceptron()}, "the learner was StructuredSVM and is Perceptron now"),
        ({"engine": RGS(restarts=1)}, "the engine was Exact and is RGS now"),
        ({"engine": Exact(time_limit=2.0)}, "the time_limit of the engine was None and is 2.0 now"),
        ({"task": replace(TAGGING, bio=False)}, "the bio of the task was True and is False now"),
        ({"task": replace(TAGGING, rules=no_rules)}, "the rules .* None and is no_rules now"),
        ({"xs": XS[::-1], "ys": YS[::-1]}, "the examples are others"),
        ({"ys": [*YS[:-1], ("O",) * len(YS[-1])]}, "the examples are others"),
        ({"sample_weight": np.arange(15.0)}, "the examples are others"),
    ],
    ids=["C", "loss", "learner", "engine", "limit", "bio", "rules", "order", "outputs", "weights"],
)
def test_a_checkpoint_of_another_training_is_refused(tmp_path, changes, what):
    path = tmp_path / "state"
    settings = {"task": TAGGING, "xs": XS, "ys": YS, "learner": StructuredSVM(iterations=2)}
    train(**settings, checkpoint=path)
    with pytest.raises(ModelError, match=f"is of another training: {what}; go on with the same"):
        train(**settings | changes, checkpoint=path, resume=True)


def test_a_checkpoint_with_another_number_of_weights_is_refused(tmp_path):
    path = tmp_path / "state"
    learner = IndependentPerceptron(iterations=2)
    train(TAGGING, XS, YS, learner=learner, checkpoint=path)
    state = load_state(path)
    short = type(state)(1, state.weights[:4], False, {}, state.memory)
    save_state(short, path, about(learner))
    with pytest.raises(ModelError, match="has 4 weights, and the model has"):
        train(TAGGING, XS, YS, learner=learner, checkpoint=path, resume=True)


def test_what_a_run_is_about_is_the_same_text_in_every_process():
    class Odd:
        iterations = 3

        def iterate(self, model, prepared, state=None):
            yield from ()

    @dataclass(frozen=True)
    class Nested:
        inner: object = (1, Odd())
        weights: object = field(default_factory=lambda: {"b": 1, "a": 2})

    assert about(Odd())["learner"] == "Odd"
    nested = about(Nested())
    assert nested["learner"] == "Nested"
    assert nested["learner.inner"] == "(1, Odd)"
    assert nested["learner.weights"] == "{'a': 2, 'b': 1}"
    settings = about(StructuredSVM(loss=Hamming({"b": 1.0, "a": 2.0})))
    assert settings["learner.loss"] == "Hamming"
    assert settings["learner.loss.weights"] == "(('b', 1.0), ('a', 2.0))"
    assert "learner.iterations" not in settings


def test_where_solved_problems_are_kept_is_not_what_a_run_is_about():
    learner, store = IndependentPerceptron(), MemoryStore()
    assert about(learner, Amortized(Milp())) == about(learner, Amortized(Milp(), store))
    assert about(learner, Amortized(Milp())) != about(learner, Amortized(Exact()))
    zeros, ones = (RGS(0.5, 2, UnaryClassifier(weights)) for weights in (np.zeros(3), np.ones(3)))
    assert about(learner, zeros) != about(learner, ones)


@pytest.mark.parametrize(
    ("learner", "measure"),
    list(zip(LEARNERS, ["mistakes", "mistakes", "loss"], strict=True)),
    ids=["local", "perceptron", "svm"],
)
def test_progress_shows_the_learner_its_measures_and_stays_off_standard_output(
    learner, measure, capsys, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "80")
    watched = train(TAGGING, XS, YS, learner=learner, progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert type(learner).__name__ in shown.err
    assert measure in shown.err
    assert "…" not in shown.err
    assert "nan" not in shown.err  # an SVM that warms up has no primal yet
    assert watched.weights.tobytes() == train(TAGGING, XS, YS, learner=learner).weights.tobytes()


def test_the_bar_is_full_when_a_learner_is_done_early(capsys):
    train(TAGGING, XS[:1], YS[:1], learner=Perceptron(iterations=50), progress=True)
    shown = capsys.readouterr().err
    assert "/50" not in shown
    assert "mistakes 0" in shown


@pytest.mark.parametrize("verbose", [False, True])
def test_dev_scores_are_measured_after_every_iteration_and_shown_first(
    verbose, capsys, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "100")
    states, shown = [], []

    def dev_scores(model):
        shown.append(model.weights.tobytes())
        return {"accuracy": 0.1 * len(shown), "F1": 0.5}

    train(
        TAGGING,
        XS,
        YS,
        learner=LEARNERS[-1],
        progress=True,
        verbose=verbose,
        dev_scores=dev_scores,
        watch=states.append,
    )
    assert len(states) == len(shown) == 5
    assert shown[-1] == states[-1].weights.tobytes()
    for k, state in enumerate(states, start=1):
        assert list(state.measures)[:2] == ["dev accuracy", "dev F1"]
        assert state.measures["dev accuracy"] == pytest.approx(0.1 * k)
    rest = "primal [^ ]+  dual [^ ]+  gap" if verbose else "loss"
    assert re.search(f"dev accuracy 0.5  {rest} ", capsys.readouterr().err)


def test_without_progress_nothing_is_shown(capsys):
    train(TAGGING, XS, YS, learner=IndependentPerceptron(iterations=1))
    shown = capsys.readouterr()
    assert shown.out == shown.err == ""


def test_settings_and_examples_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(SettingError, match=r"to resume, say checkpoint="):
        train(TAGGING, XS, YS, resume=True)
    for learner in (
        StructuredSVM(loss=Hamming({"typo": 2.0})),
        Subgradient(loss=Hamming({"typo": 2.0})),
    ):
        with pytest.raises(SettingError, match="a weight for 'typo', which no variable has"):
            train(TAGGING, XS, YS, learner=learner)
    for every in (0, 1.5):
        with pytest.raises(SettingError, match=f"every is a whole number .* 1, got {every}"):
            train(TAGGING, XS, YS, checkpoint=tmp_path / "state", every=every)
    with pytest.raises(DataError, match="no examples"):
        train(TAGGING, [], [])
    with pytest.raises(DataError, match="input 14 has no output"):
        train(TAGGING, XS, YS[:-1])
    with pytest.raises(LabelError, match="'Q' is not a label"):
        train(TAGGING, XS[:1], [("Q",) * len(XS[0])])


@pytest.mark.parametrize("learner", [Perceptron, "svm"])
def test_a_learner_is_made_before_it_learns(learner):
    with pytest.raises(SettingError, match=r"learner is one such as StructuredSVM\(C=0.1\)"):
        train(TAGGING, XS, YS, learner=learner)


def test_a_checkpoint_takes_the_place_of_nothing_else(tmp_path):
    for name, data in (("text", b"the\tDT\n"), ("empty", b"")):
        file = tmp_path / name
        file.write_bytes(data)
        sentence = f"^{file}: is no state of a learner, and is left as it is; name another$"
        with pytest.raises(ModelError, match=sentence):
            train(TAGGING, XS, YS, learner=LEARNERS[0], checkpoint=file)
        assert file.read_bytes() == data
    train(TAGGING, XS, YS, learner=LEARNERS[0]).save(tmp_path / "model")
    (weights,) = (tmp_path / "model").glob("*.safetensors")
    before = weights.read_bytes()
    with pytest.raises(ModelError, match="is no state of a learner, and is left as it is"):
        train(TAGGING, XS, YS, learner=LEARNERS[0], checkpoint=weights)
    assert weights.read_bytes() == before


def test_where_a_checkpoint_cannot_go_nothing_is_learned(tmp_path):
    seen = []
    with pytest.raises(ModelError, match=r"there is no folder .*nowhere to write the state into"):
        train(TAGGING, XS, YS, watch=seen.append, checkpoint=tmp_path / "nowhere" / "state")
    assert not seen
