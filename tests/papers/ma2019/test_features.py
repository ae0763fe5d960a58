"""What letters, residues, tweets and handwriting are looked at by."""

import numpy as np
import pytest

from papers.data.ocr import HEIGHT, WIDTH
from papers.data.protein import RESIDUES
from papers.ma2019.features import (
    AROUND,
    CLASSES,
    PHONEME,
    PROTEIN,
    TWEETS,
    Dictionaries,
    FirstLook,
    SecondLook,
    pixel_pairs,
    plain,
    spread_pairs,
    usual_tags,
    windows,
    with_classes,
    with_tags,
)

PAIRS = HEIGHT * (WIDTH - 1) + (HEIGHT - 1) * WIDTH + 2 * (HEIGHT - 1) * (WIDTH - 1)
TAGS = Dictionaries({"run": "VB/NN", "soo": "RB"}, {"run": "VB"})


def chain(residues):
    return tuple((residue,) for residue in residues)


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


def test_a_residue_is_looked_at_with_the_class_of_those_four_places_on():
    first = PROTEIN.rows(with_classes(chain("GVGTK")))[0]
    assert "residue[0]=G" in first
    assert "class[0]|class[4]=G|positive" in first


def test_every_residue_has_a_class():
    assert set(CLASSES) == set(RESIDUES)


def test_a_first_look_learns_what_residues_have_which_label():
    look = FirstLook.learned([chain("AV" * 40)], [("h", "e") * 40])
    likely = look(chain("VAVA"))
    assert likely.argmax(axis=1).tolist() == [1, 0, 1, 0]  # of h, e and _
    np.testing.assert_allclose(likely.mean(axis=1), 1)


def test_a_second_look_has_the_first_looks_around_a_residue_and_that_of_the_chain():
    look = SecondLook.learned([chain("AVG"), chain("VAG")], [tuple("he_"), tuple("eh_")], [0, 1])
    likely = look.first(chain("GA"))
    first, second = look(np.array(chain("GA")))
    middle = 3 * AROUND
    np.testing.assert_allclose(first[middle : middle + 6], 0.3 * np.log(likely).ravel())
    assert not first[:middle].any()
    np.testing.assert_allclose(second[middle - 3 : middle], first[middle : middle + 3])
    np.testing.assert_allclose(first[-4:], [*(0.3 * likely.mean(axis=0)), 1])


def test_a_chain_that_was_learned_from_is_looked_at_by_what_learned_from_other_folds():
    xs, ys = [chain("AVG"), chain("VAG"), chain("GGA")], [tuple("he_"), tuple("eh_"), tuple("__h")]
    look = SecondLook.learned(xs, ys, [0, 1, 1])
    np.testing.assert_allclose(look.known[xs[0]], FirstLook.learned(xs[1:], ys[1:])(xs[0]))
    np.testing.assert_allclose(look.known[xs[2]], FirstLook.learned(xs[:1], ys[:1])(xs[2]))
    own = SecondLook(look.first, {})
    assert not np.allclose(look(xs[0]), own(xs[0]))


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
