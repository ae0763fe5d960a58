"""JSON of another shape is refused, and what does not fit is named by where it stands."""

import pytest

from rote.errors import DataError
from rote.io.shapes import check_shape

SHAPE = {"words": [str], "spans": [{"start": int, "weight?": float}], "more?": object}


@pytest.mark.parametrize(
    "value",
    [
        {"words": [], "spans": []},
        {"words": ["a"], "spans": [{"start": 0}, {"start": 1, "weight": 2}], "more": [{}]},
        {"words": ["a"], "spans": [{"start": 0, "weight": 0.5}]},
    ],
)
def test_a_value_of_the_shape_is_given_back(value):
    assert check_shape("x", value, SHAPE) is value


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3, "x is an object with words, spans; got 3"),
        ({"words": "a", "spans": []}, 'x, "words" is a list of texts; got "a"'),
        ({"words": ["a", ""], "spans": []}, 'x, "words", 1 is a text; got ""'),
        ({"words": []}, 'x, "spans" is a list of objects with start; got null'),
        ({"words": [], "spans": [[0]]}, 'x, "spans", 0 is an object with start; got [0]'),
        ({"words": [], "spans": [{"start": True}]}, 'x, "spans", 0, "start" is a whole number'),
        (
            {"words": [], "spans": [{"start": 0, "weight": float("nan")}]},
            "is a finite number; got NaN",
        ),
        ({"words": [], "spans": [{"start": 0, "weight": 10**400}]}, "is a finite number"),
        ({"words": [], "spans": [], "POS": 1}, "x has no other keys than words, spans, more; got"),
    ],
)
def test_what_does_not_fit_is_named(value, said):
    with pytest.raises(DataError) as caught:
        check_shape("x", value, SHAPE)
    assert said in str(caught.value)
