"""What `--engine` and `--learner` know by name, and stores by their address."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import rote
from rote.cli.app import option
from rote.errors import SettingError

if TYPE_CHECKING:
    from rote.inference.stores import Store


# What --engine knows: first those that can stop early, then those that cannot. Each is the name of
# a class, which is loaded when it is asked for: most commands need few of them, and help none.
ANYTIME = {
    "exact": "Exact",
    "branch": "BranchAndBound",
    "milp": "Milp",
    "gurobi": "Milp",
    "cp-sat": "CpSat",
    "toulbar2": "Toulbar2",
}
SETTINGS: Mapping[str, Mapping[str, Any]] = {"gurobi": {"solver": "gurobi"}}
UNTIMED = {
    "elimination": "Elimination",
    "chain": "Chain",
    "tree": "Tree",
    "message-passing": "MessagePassing",
    "separable": "Independent",
    "exhaustive": "Exhaustive",
    "greedy": "RGS",
}
LEARNERS = {
    "svm": "StructuredSVM",
    "perceptron": "Perceptron",
    "local": "IndependentPerceptron",
    "subgradient": "Subgradient",
}
# What several commands take.
EngineName = Annotated[str, option(f"What to solve with: {', '.join([*ANYTIME, *UNTIMED])}.")]
StoreAddress = Annotated[
    str | None,
    option("Remember what is slow to solve in a store: FILE.sqlite, redis://HOST or memory."),
]


def engine_named(name: str, seconds: float | None, others: Sequence[str] = ()) -> rote.Engine:
    if name in ANYTIME:
        make: Callable[..., rote.Engine] = getattr(rote, ANYTIME[name])
        return make(time_limit=seconds, **SETTINGS.get(name, {}))
    if name not in UNTIMED:
        known = ", ".join([*others, *ANYTIME, *UNTIMED])
        raise SettingError(f"--engine is one of {known}; got {name!r}")
    if seconds is not None:
        raise SettingError(
            f"--engine {name} cannot stop early; leave --time-limit out, or use "
            f"{' or '.join(ANYTIME)}"
        )
    untimed: Callable[[], rote.Engine] = getattr(rote, UNTIMED[name])
    return untimed()


def opened_store(address: str) -> Store:
    from rote.inference.stores import open_store

    return open_store(address)


def learner_named(name: str, **settings: Any) -> rote.Learner:
    """The learner of this name; None leaves a setting at its default.

    >>> learner_named("perceptron", iterations=5, C=None)
    Perceptron(iterations=5, average=True, update='full', seed=0)
    """
    if name not in LEARNERS:
        raise SettingError(f"the learner is one of {', '.join(LEARNERS)}; got {name!r}")
    make: Callable[..., rote.Learner] = getattr(rote, LEARNERS[name])
    known = [field.name for field in fields(make)]  # type: ignore[arg-type]
    given = {setting: value for setting, value in settings.items() if value is not None}
    for setting in given:
        if setting not in known:
            raise SettingError(f"the learner {name} has no {setting}; leave it out")
    return make(**given)
