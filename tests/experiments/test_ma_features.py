"""What letters, residues, tweets and handwriting are looked at by."""

from __future__ import annotations

import numpy as np
import pytest

from rote.data.ocr import HEIGHT, WIDTH
from rote.experiments.ma_features import (
    PHONEME,
    PROTEIN,
    TWEETS,
    Dictionaries,
    pixel_pairs,
    plain,
    spread_pairs,
    usual_tags,
    windows,
    with_tags,
)

PAIRS = HEIGHT * (WIDTH - 1) + (HEIGHT - 1) * WIDTH + 2 * (HEIGHT - 1) * (WIDTH - 1)
TAGS = Dictionaries({"run": "VB/NN", "soo": "RB"}, {"run": "VB"})


def letter(*black):
    pixels = np.zeros((HEIGHT, WIDTH), dtype=np.uint8)
    for place in black:
        pixels[place] = 1
    return pixels.reshape(1, -1)


def test_runs_of_neighbours_stay_within_their_reach():
    found = windows("letter", 0, {3: 2})
    assert found[2:] == (
        "letter[-2]|letter[-1]|letter[0]",
        "letter[-1]|letter[0]|letter[1]",
        "letter[0]|letter[1]|letter[2]",
    )


def test_spread_pairs_are_all_pairs_of_places_that_are_near_each_other():
    assert set(spread_pairs("r", 1, 2)) == {"r[-1]|r[0]", "r[0]|r[1]", "r[-1]|r[1]"}
    assert len(spread_pairs("r", 6, 4)) == 12 + 11 + 10 + 9


def test_a_letter_is_looked_at_with_the_letters_around_it():
    (_, second, _) = PHONEME.rows([("o",), ("a",), ("k",)])
    assert "letter[0]=a" in second
    assert "letter[-1]|letter[0]|letter[1]=o|a|k" in second


def test_a_residue_is_looked_at_with_those_four_places_on():
    first = PROTEIN.rows([(residue,) for residue in "GVGTV"])[0]
    assert "residue[0]|residue[4]=G|V" in first


@pytest.mark.parametrize(
    ("black", "pairs"),
    [
        (((3, 4),), 0),
        (((3, 4), (3, 5)), 1),  # beside
        (((3, 4), (4, 4)), 1),  # below
        (((3, 4), (4, 5)), 1),  # below on the right
        (((3, 4), (4, 3)), 1),  # below on the left
        (((3, 4), (3, 6)), 0),
        (((3, 7), (4, 0)), 0),  # the end of a row and the start of the next
        (((0, 0), (0, 1), (1, 0), (1, 1)), 6),
    ],
)
def test_pairs_are_of_near_pixels_that_are_both_black(black, pairs):
    (vector,) = pixel_pairs(letter(*black))
    assert vector.shape == (HEIGHT * WIDTH + PAIRS + 1,)
    assert np.count_nonzero(vector) == len(black) + pairs + 1


def test_a_letter_has_a_vector_of_length_one_even_if_it_is_blank():
    for image in (letter(), letter((0, 0), (0, 1))):
        (vector,) = pixel_pairs(image)
        assert np.linalg.norm(vector) == pytest.approx(1)


def test_words_are_spelled_as_elsewhere():
    words = ("@", "@Ada", "Goooood", "WWW.a.b", "I\N{RIGHT SINGLE QUOTATION MARK}m", "2nd")
    assert [plain(word) for word in words] == ["@", "@", "good", "<address>", "i'm", "0nd"]


def test_usual_tags_are_the_most_frequent_ones_and_rare_ones_are_left_out():
    pairs = [("a", "DT")] * 18 + [("a", "NN")] * 3 + [("a", "FW")]
    assert usual_tags(pairs) == {"a": "DT/NN"}
    several = [("b", tag) for tag in "WXYZ" for _ in range("ZYXW".index(tag) + 1)]
    assert usual_tags(several) == {"b": "W/X/Y"}


def test_a_tweet_has_the_columns_of_its_templates():
    tweet = with_tags((("Run",), ("#run",), ("Sooo",), ("zz",)), TAGS)
    assert tweet == (
        ("Run", "run", "VB/NN", "VB"),
        ("#run", "#run", "VB/NN", "?"),
        ("Sooo", "soo", "RB", "?"),
        ("zz", "zz", "?", "?"),
    )
    assert "known[-1]|known[0]=VB/NN|RB" in TWEETS.rows(tweet)[2]
