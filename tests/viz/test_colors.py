"""Labels can be told apart by letters, and read on their colours."""

import pytest

from rote.viz.colors import BROKEN, color, letters


def luminance(code: str) -> float:
    parts = [int(code[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("number", range(24))
def test_ink_can_be_read_on_its_colour(number):
    assert contrast(*color(number)) >= 4.5


def test_the_first_24_colours_differ():
    assert len({color(number).fill for number in range(24)}) == 24
    assert color(24) == color(0)


def test_the_sign_of_broken_rules_stands_out_in_light_and_in_dark():
    assert contrast(BROKEN, "#ffffff") >= 3
    assert contrast(BROKEN, "#161616") >= 3


def test_letters_are_unlike_and_of_the_label_where_that_can_be():
    labels = [f"class {k}" for k in range(40)]
    assert len(set(letters(labels))) == 40
    assert letters(["sheep", "ship", "shop"]) == ["S", "H", "O"]
    assert letters(["地図", "地"]) == ["A", "B"]
    assert letters([]) == []


def test_more_labels_than_letters_are_numbered():
    assert letters([f"{k}" for k in range(63)])[-1] == "62"
