"""Settings that are checked by a table."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from rote.errors import RoteError, SettingError
from rote.settings import (
    FLAG,
    FRACTION,
    LIMIT,
    LIST,
    SEED,
    Checked,
    Setting,
    check,
    instance_of,
    number,
    one_of,
    optional,
    whole,
)


@dataclass(frozen=True)
class Example(Checked):
    width: int = 1
    labels: tuple[str, ...] = ()
    step: float | None = None

    checks: ClassVar = {
        "width": whole(1, 9),
        "labels": LIST,
        "step": optional(number(above=0, below=2)),
    }


GOOD: list[tuple[Setting, tuple[Any, ...]]] = [
    (whole(2), (2, 10**30, np.int32(7))),
    (whole(0, 3), (0, 3)),
    (number(least=0), (0, 0.5, np.float32(2), 10**6)),
    (number(above=0, below=2), (1e-300, 1.999)),
    (number(), (-1e300, 0)),
    (FRACTION, (0, 1, 0.5)),
    (FLAG, (True, False)),
    (SEED, (0, 2**63 - 1)),
    (LIMIT, (None, 1, 0.001)),
    (LIST, ([], (), ["a"], iter("ab"), {"a": 1})),
    (one_of("full", "early"), ("full", "early")),
    (one_of(1, 2), (1, 2)),
    (instance_of(RoteError, "RoteError()"), (RoteError(), SettingError())),
]
BAD: list[tuple[Setting, tuple[Any, ...]]] = [
    (whole(2), (1, 2.0, True, None, "2", float("nan"))),
    (whole(0, 3), (-1, 4)),
    (number(least=0), (-1e-9, float("nan"), float("inf"), True, None, "1")),
    (number(above=0, below=2), (0, 2, -1)),
    (FRACTION, (1.0001, -0.1, True, float("nan"))),
    (FLAG, (0, 1, None, "yes", np.True_)),
    (SEED, (-1, 2**63)),
    (LIMIT, (0, -1, float("inf"), True)),
    (LIST, ({"a"}, frozenset("ab"), "ab", 3, None)),
    (one_of("full", "early"), ("late", None, [])),
    (one_of(1, 2), (True, 3, 1.0)),
    (instance_of(RoteError, "RoteError()"), (RoteError, None, 1)),
]


@pytest.mark.parametrize(("setting", "value"), [(s, v) for s, values in GOOD for v in values])
def test_what_is_as_wanted_passes(setting: Setting, value: object) -> None:
    kept = check("it", value, setting)
    assert kept is value or setting is LIST


@pytest.mark.parametrize(("setting", "value"), [(s, v) for s, values in BAD for v in values])
def test_the_refusal_names_the_setting_what_it_may_be_and_what_came(
    setting: Setting, value: object
) -> None:
    with pytest.raises(SettingError) as caught:
        check("it", value, setting)
    assert str(caught.value) == f"it is {setting.wanted}, got {value!r:.80}"


@pytest.mark.parametrize(
    ("setting", "wanted"),
    [
        (whole(1), "a whole number of at least 1"),
        (whole(0, 3), "a whole number from 0 to 3"),
        (number(), "a number"),
        (number(least=0.5), "a number of at least 0.5"),
        (number(above=0, below=2), "a number above 0 and below 2"),
        (LIMIT, "a number above 0, or None"),
        (one_of("full", "early"), "one of full, early"),
        (instance_of(RoteError, "Exact()"), "one such as Exact()"),
    ],
)
def test_the_words(setting: Setting, wanted: str) -> None:
    assert setting.wanted == wanted


def test_a_class_checks_all_of_its_table_and_keeps_lists_as_tuples() -> None:
    assert Example(3, ["b", "a"], 1.5) == Example(3, ("b", "a"), 1.5)  # type: ignore[arg-type]
    for wrong in ({"width": 0}, {"labels": {"a"}}, {"step": 2}):
        with pytest.raises(SettingError, match=f"^{next(iter(wrong))} is "):
            Example(**wrong)


def test_a_long_value_is_cut() -> None:
    with pytest.raises(SettingError) as caught:
        check("it", "x" * 1000, whole(1))
    assert len(str(caught.value)) < 150
