"""Multiclass: forms of inputs, labels there and back, and learning from points and pictures."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from rote.errors import DataError, LabelError
from rote.learning import Perceptron, StructuredSVM, fit
from rote.model import Model, prepare
from rote.tasks.multiclass import ALWAYS, Multiclass, with_constant


def trained(task, xs, ys, learner):
    prepared = prepare(task, xs, ys)
    return fit(learner, Model(task, prepared.layout, prepared.layout.zeros()), prepared)


def test_an_input_is_one_variable_and_one_vector():
    task = Multiclass(["a", "b", "c"])
    frame = task.frame(["word"])
    assert [variable.labels for variable in frame.space.variables] == [("a", "b", "c")]
    assert frame.space.factors == ()
    assert len(frame.kinds) == 1
    assert task.frame({"other": 2.0}) is frame


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("x", "y"), ["x", "y", ALWAYS]),
        ([], [ALWAYS]),
        ({"x": 2.0}, {"x": 2.0, ALWAYS: 1.0}),
    ],
)
def test_a_constant_is_one_more_name(given, expected):
    assert with_constant(given) == expected


def test_a_constant_is_the_last_entry_of_an_array_and_of_a_sparse_row():
    np.testing.assert_array_equal(with_constant(np.array([0, 3])), [0.0, 3.0, 1.0])
    row = with_constant(csr_array(np.array([[0.0, 3.0]])))
    np.testing.assert_array_equal(row.toarray(), [[0.0, 3.0, 1.0]])
    np.testing.assert_array_equal(with_constant(csr_array((1, 2))).toarray(), [[0.0, 0.0, 1.0]])


def test_what_is_no_vector_is_refused():
    for wrong in ("word", 3, None):
        with pytest.raises(DataError, match="a feature vector is a mapping"):
            with_constant(wrong)
    task = Multiclass(("a", "b"))
    for several in (np.ones((2, 2)), csr_array(np.ones((2, 2)))):
        with pytest.raises(DataError):
            prepare(task, [several], ["a"])


def test_a_threshold_is_needed_where_classes_lie_on_one_side_of_the_origin():
    xs = [np.array([at]) for at in (1.0, 1.5, 3.0, 3.5)]
    ys = ["low", "low", "high", "high"]
    with_threshold = trained(Multiclass(("low", "high")), xs, ys, Perceptron(200, average=False))
    without = trained(
        Multiclass(("low", "high"), constant=False), xs, ys, Perceptron(200, average=False)
    )
    assert with_threshold.predict(xs) == ys
    assert without.predict(xs) != ys


@pytest.mark.parametrize("form", ["array", "sparse", "mapping"])
def test_the_form_of_the_vectors_does_not_change_what_is_learned(form):
    rng = np.random.default_rng(3)
    centres = {"a": (0, 2), "b": (2, 0), "c": (-2, -2)}
    ys = list(centres) * 10
    points = np.array([centres[y] for y in ys]) + 0.3 * rng.normal(size=(len(ys), 2))
    forms = {
        "array": list(points),
        "sparse": [csr_array(point[None]) for point in points],
        "mapping": [{"first": first, "second": second} for first, second in points],
    }
    model = trained(Multiclass(("a", "b", "c")), forms[form], ys, StructuredSVM(iterations=20))
    assert model.predict(forms[form]) == ys
    reference = trained(
        Multiclass(("a", "b", "c")), forms["array"], ys, StructuredSVM(iterations=20)
    )
    np.testing.assert_allclose(model.weights, reference.weights, atol=1e-12)


@pytest.mark.parametrize("wrong", ["d", ["a"]])
def test_an_output_that_is_no_label_is_named(wrong):
    with pytest.raises(LabelError) as caught:
        Multiclass(("a", "b")).encode([], wrong)
    assert str(caught.value) == f"{wrong!r} is not a label; the labels are a, b"
