"""A wrapper of one's own, made of promised names alone."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from rote import (
    RGS,
    Capability,
    Context,
    Engine,
    Exact,
    F1Loss,
    MultiLabel,
    Perceptron,
    Problem,
    Solutions,
    Stats,
    StructuredSVM,
    UnsupportedSpace,
    Wrapper,
    train,
)


@dataclass(frozen=True, eq=False)
class Verified(Wrapper):
    """Checks that every output of the inner engine obeys the rules."""

    inner: Engine = field(default_factory=Exact)
    counted: Stats = field(default_factory=lambda: Stats("verified"), init=False, repr=False)

    transparent = True

    @property
    def stats(self) -> Stats:
        return self.counted

    def answer(self, problem: Problem, context: Context) -> Solutions:
        found = self.inner.answer(problem, context)
        there = found.labels.min(axis=1, initial=0) >= 0
        assert problem.space.holds(found.labels[there]).all()
        self.counted.add(verified=int(there.sum()))
        return found


XS = [["red"], ["blue"], ["red", "blue"], []] * 3
YS = [{"r"}, {"b"}, {"r", "b"}, set()] * 3


def test_training_and_prediction_go_through_it_and_models_are_saved_without_it(tmp_path):
    task, engine = MultiLabel(("r", "b")), Verified()
    model = train(task, XS, YS, learner=Perceptron(), engine=engine)
    assert engine.stats["verified"] > 0
    plain = train(task, XS, YS, learner=Perceptron())
    assert (model.weights == plain.weights).all()
    model.save(tmp_path / "model")
    assert type(model).load(tmp_path / "model").engine == Exact()


def test_it_can_take_what_the_engine_inside_can():
    assert Capability.LOSS_TERMS in Verified(RGS()).supports
    assert Capability.LOSS_TERMS not in Verified(Exact()).supports
    learner = StructuredSVM(loss=F1Loss(), iterations=2)
    found = train(MultiLabel(("r", "b")), XS, YS, learner=learner, engine=Verified(RGS()))
    assert np.isfinite(found.weights).all()
    with pytest.raises(UnsupportedSpace, match="Verified"):
        train(MultiLabel(("r", "b")), XS, YS, learner=learner, engine=Verified(Exact()))
