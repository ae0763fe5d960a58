"""Text that can be shown anywhere, in as many columns as there are."""

from rote.viz.text import folded, shortened, visible, width_of


def test_what_cannot_be_seen_is_replaced():
    for code in (0, 7, 27, 0x9B, 0x202E, 0xD800):
        assert visible(f"a{chr(code)}b") == "a�b"
    assert visible("") == "␣"
    assert visible("  ") == "␣␣"
    assert visible("naïve 地図") == "naïve 地図"


def test_wide_letters_take_two_columns_and_accents_none():
    assert width_of("地図 map") == 8
    assert width_of("Z\u0301al") == 3


def test_a_shortened_text_fits():
    assert shortened("地図地図", 5) == "地図…"
    assert shortened("map", 3) == "map"
    assert all(width_of(shortened("ab地図cd", n)) <= n for n in range(1, 9))


def test_folded_lines_fit_and_lose_nothing():
    text = f"a sentence with {'x' * 50} and 地図地図地図 in it"
    for columns in (12, 20, 40):
        lines = list(folded(text, columns, "  "))
        assert max(map(width_of, lines)) <= columns
        assert "".join("".join(lines).split()) == "".join(text.split())
        assert all(line.startswith("  ") for line in lines[1:])
