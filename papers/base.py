"""The seam of experiments: settings in, an outcome out; a figure is drawn from a record alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from papers.records import Claim, Record, Row
from rote import SettingError
from rote.settings import SEED, Checked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Progress: TypeAlias = Callable[[int, int], None]  # so many steps are done, of so many


Doing: TypeAlias = Callable[[str], None]  # what is done from now on, in a few words


def unwatched(done: int, of: int) -> None:
    """The progress that nobody looks at."""


def untold(what: str) -> None:
    """What is done while nobody asks."""


@dataclass(frozen=True)
class Settings(Checked):
    """What every experiment can be asked for; without ``trials``, it takes as many as it should.

    ``quick`` is for a first look: less data and fewer trials, so that it ends within a minute.
    Some experiments have ``cases``, of which only those named are done; none stands for all.
    """

    quick: bool = False
    trials: int | None = None
    seed: int = 0
    progress: Progress = unwatched
    cases: tuple[str, ...] = ()
    doing: Doing = untold

    checks: ClassVar = {"seed": SEED}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.trials is not None and self.trials < 2:
            raise SettingError(
                "claims are judged by how trials differ, which takes two of them at least; "
                f"got trials={self.trials}"
            )

    def among(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of an experiment's cases that are to be done, in its own order."""
        known = tuple(names)
        unknown = [case for case in self.cases if case not in known]
        if unknown:
            raise SettingError(f"the cases are {', '.join(known)}; got {unknown[0]!r}")
        return tuple(name for name in known if not self.cases or name in self.cases)


@dataclass(frozen=True)
class Outcome:
    """What an experiment found; ``settings`` says all that is needed to find it again."""

    settings: Mapping[str, Any]
    rows: Sequence[Row]
    claims: Sequence[Claim]


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of a paper, by its name.

    ``plan`` says how much is done under settings, and ``run`` does it. ``cases`` says which cases
    there are in a plan, where they can be chosen, and ``one_trial`` that the data have one split.
    ``legend`` says what methods and metrics are, to those who have not read the paper.
    """

    name: str
    paper: str
    about: str
    run: Callable[[Any, Settings], Outcome]
    draw: Callable[[Record], Figure] | None = None
    plan: Callable[[Settings], Any] = field(kw_only=True)
    cases: Callable[[Any], Iterable[str]] | None = None
    one_trial: bool = False
    legend: Mapping[str, str] = field(default_factory=dict)
