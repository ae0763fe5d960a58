"""Settings checked by a table: a class says for each of its settings what it may be.

    @dataclass(frozen=True)
    class Perceptron(Checked):
        iterations: int = 20
        update: str = "full"

        checks: ClassVar = {"iterations": whole(1), "update": one_of("full", "early", "largest")}

`check` does the same for one argument of a function. A wrong value is refused by one sentence that
is built in one place: the setting's name, what it may be, and what came.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

from rote.errors import SettingError


@dataclass(frozen=True)
class Setting:
    """What a setting may be, in a few words and as a test, and the form it is kept in."""

    wanted: str
    accepts: Callable[[Any], bool]
    kept: Callable[[Any], Any] | None = None


class Checked:
    """A dataclass whose settings are checked by the table ``checks`` when it is made."""

    checks: ClassVar[Mapping[str, Setting]] = {}

    def __post_init__(self) -> None:
        for name, setting in self.checks.items():
            value = getattr(self, name)
            kept = check(name, value, setting)
            if kept is not value:
                object.__setattr__(self, name, kept)


def check(name: str, value: Any, setting: Setting) -> Any:
    """The value in the form it is kept in; a `SettingError` where it is not as wanted."""
    if not setting.accepts(value):
        raise SettingError(f"{name} is {setting.wanted}, got {value!r:.80}")
    return value if setting.kept is None else setting.kept(value)


def is_number(value: object, kind: type = Real) -> bool:
    """Whether a value is a number; True and False are not, though Python counts with them."""
    return isinstance(value, kind) and not isinstance(value, bool)


def whole(least: int, most: int | None = None) -> Setting:
    """A whole number of at least ``least``, and at most ``most``."""
    wanted = f"of at least {least}" if most is None else f"from {least} to {most}"
    end = math.inf if most is None else most
    return Setting(
        f"a whole number {wanted}",
        lambda value: is_number(value, Integral) and least <= value <= end,
    )


def number(
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
    below: float = math.inf,
) -> Setting:
    """A finite number within bounds: ``least`` and ``most`` belong to them, the others do not."""
    bounds = {"of at least": least, "above": above, "of at most": most, "below": below}
    words = [f"{word} {bound:g}" for word, bound in bounds.items() if math.isfinite(bound)]
    return Setting(
        f"a number {' and '.join(words)}".strip(),
        lambda value: (
            is_number(value)
            and math.isfinite(value)
            and least <= value <= most
            and above < value < below
        ),
    )


FRACTION = Setting("a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1)
FLAG = Setting("True or False", lambda value: isinstance(value, bool))
SEED = whole(0, (1 << 63) - 1)
LIST = Setting(
    "a list, because its order counts; of a set say sorted(...)",
    lambda value: isinstance(value, Iterable) and not isinstance(value, Set | str),
    tuple,
)


def one_of(*values: Any) -> Setting:
    """One of some values."""
    return Setting(
        f"one of {', '.join(map(str, values))}",
        lambda value: any(type(value) is type(one) and value == one for one in values),
    )


def instance_of(kind: type, such_as: str) -> Setting:
    """A value of a class, and not the class itself; ``such_as`` shows one."""
    return Setting(f"one such as {such_as}", lambda value: isinstance(value, kind))


def optional(setting: Setting) -> Setting:
    """The same, or None."""
    kept = setting.kept
    return Setting(
        f"{setting.wanted}, or None",
        lambda value: value is None or setting.accepts(value),
        None if kept is None else lambda value: None if value is None else kept(value),
    )


LIMIT = optional(number(above=0))
