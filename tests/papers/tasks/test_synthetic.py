"""Points become weights of single variables, and only outputs that the rules allow are found."""

from itertools import product

import numpy as np
import pytest

from papers.data.synthetic import binary_constrained, linear_constrained
from papers.tasks.synthetic import BinaryPoints, BinaryVector
from rote import DataError, IndependentPerceptron, LabelError, Model, Perceptron, fit, prepare

DATA = binary_constrained(60, kappa=0.5, seed=3, d=6, test=80)
TASK = BinaryPoints.of(DATA.feasible)


def hidden_model() -> Model:
    """The model of the hypothesis that made the data."""
    prepared = prepare(TASK, DATA.train.points, DATA.train.labels)
    layout, weights = prepared.layout, prepared.layout.zeros()
    for i, (w, threshold) in enumerate(zip(DATA.weights, DATA.thresholds, strict=True)):
        layout.block(weights, f"variable {i}")[:, 1] = [*w, threshold]
        layout.block(weights, f"variable {i}")[:, 0] = [*-w, -threshold]
    return Model(TASK, layout, weights)


def test_the_space_holds_exactly_the_feasible_outputs():
    outputs = np.array(list(product((0, 1), repeat=5)))
    holds = TASK.frame(DATA.train.points[0]).space.holds(outputs)
    assert outputs[holds].tolist() == DATA.feasible.tolist()


def test_a_vector_is_a_point_and_a_one_for_the_threshold():
    vectors = TASK.vectors(DATA.train.points[0])
    expected = [[*point, 1.0] for point in DATA.train.points[0].tolist()]
    assert [vector.tolist() for vector in vectors] == expected


def test_the_hidden_hypothesis_predicts_every_label():
    predicted = hidden_model().predict(DATA.test.points)
    assert predicted == [tuple(y) for y in DATA.test.labels.tolist()]


def test_inference_based_training_gets_training_data_right_that_local_learning_cannot():
    prepared = prepare(TASK, DATA.train.points, DATA.train.labels)
    start = Model(TASK, prepared.layout, prepared.layout.zeros())
    gold = [tuple(y) for y in DATA.train.labels.tolist()]
    trained = fit(Perceptron(500, average=False), start, prepared)
    local = fit(IndependentPerceptron(500, average=False), start, prepared)
    assert trained.predict(DATA.train.points) == gold
    assert local.predict(DATA.train.points) != gold


@pytest.mark.parametrize("y", [(0, 1, 1, 0), (0, 1, 2, 0, 1), (0, -1, 1, 0, 1)])
def test_an_output_that_is_no_row_of_zeros_and_ones_is_refused(y):
    with pytest.raises(LabelError, match="5 labels, each 0 or 1"):
        TASK.encode(DATA.train.points[0], y)


@pytest.mark.parametrize("shape", [(4, 6), (6,), (5, 6, 1)])
def test_an_input_of_another_shape_is_refused(shape):
    with pytest.raises(DataError, match="one point per variable, 5 rows"):
        TASK.vectors(np.zeros(shape))


# One vector for all variables, and linear rules

LINEAR = linear_constrained(10, seed=2, variables=6, dimensions=4, least=5, test=50)
RULED = BinaryVector.of(LINEAR.coefficients, LINEAR.upper)
VECTOR = LINEAR.train.points[0]


def allowed(coefficients, upper):
    """All outputs y with coefficients @ y <= upper."""
    outputs = np.array(list(product((0, 1), repeat=coefficients.shape[1])))
    return outputs[(outputs @ coefficients.T <= upper).all(axis=1)]


@pytest.mark.parametrize("seed", range(5))
def test_the_space_holds_the_outputs_that_add_up_to_no_more_than_the_rules_say(seed):
    rng = np.random.default_rng(seed)
    coefficients, upper = rng.integers(-3, 4, (3, 5)), rng.integers(-2, 4, 3)
    space = BinaryVector.of(coefficients, upper).frame(VECTOR).space
    outputs = np.array(list(product((0, 1), repeat=5)))
    found = outputs[space.holds(outputs)]
    assert found.tolist() == allowed(coefficients, upper).tolist()
    assert len(space.rules) == 3


def test_a_rule_that_counts_no_variable_always_or_never_holds():
    outputs = np.array(list(product((0, 1), repeat=2)))
    for most, held in ((0, 4), (-1, 0)):
        space = BinaryVector(2, (((0, 0), most),)).frame(VECTOR).space
        assert space.holds(outputs).sum() == held


def test_the_hidden_weights_predict_every_linearly_ruled_label():
    prepared = prepare(RULED, list(LINEAR.train.points), list(LINEAR.train.labels))
    layout, weights = prepared.layout, prepared.layout.zeros()
    for i, own in enumerate(LINEAR.weights):
        layout.block(weights, f"variable {i}")[:, 1] = own
    predicted = Model(RULED, layout, weights).predict(list(LINEAR.test.points))
    assert predicted == [tuple(y) for y in LINEAR.test.labels.tolist()]


@pytest.mark.parametrize("y", [(0, 1, 1, 0, 1), (0, 1, 2, 0, 1, 0), (0, -1, 1, 0, 1, 0)])
def test_an_output_of_a_vector_is_zeros_and_ones(y):
    with pytest.raises(LabelError, match="6 labels, each 0 or 1"):
        RULED.encode(VECTOR, y)


@pytest.mark.parametrize("shape", [(), (1, 4), (6, 4)])
def test_an_input_that_is_no_vector_is_refused(shape):
    with pytest.raises(DataError, match="one vector; got the shape"):
        RULED.vectors(np.zeros(shape))
