"""Scores from elsewhere, judged by the classifiers that gave them and by known mixtures."""

import json
from dataclasses import asdict
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from rote import Exact, LabelError, ScoreError, SettingError, SpaceBuilder
from rote.errors import DataError
from rote.tasks.entity_relation import ENTITY_LABELS, RELATION_LABELS, entity_relation_space
from rote.tasks.external_scores import (
    FLOOR,
    ExternalScores,
    Mixture,
    external_scores_of,
    learn_mixture,
    scores_from,
)

LABELS = ("red", "green", "blue")


def blobs(seed, rows, labels=LABELS, noise=0.8):
    """Points around one centre per label."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(len(labels), size=rows)
    centres = np.array([[0.0, 2.0], [2.0, 0.0], [-2.0, -1.0], [2.0, 2.0]])[: len(labels)]
    return centres[gold] + noise * rng.normal(size=(rows, 2)), [labels[a] for a in gold]


def colours(n, *, differ=False):
    builder = SpaceBuilder()
    variables = [builder.variable(f"c{t}", LABELS) for t in range(n)]
    if differ:
        for first, second in pairwise(variables):
            for label in LABELS:
                builder.require(~(first[label] & second[label]))
    return builder.build()


def softmax(scores):
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


# -- classifiers --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "classifier",
    [LogisticRegression(), GaussianNB(), LinearSVC(), SVC(), DecisionTreeClassifier(max_depth=3)],
    ids=lambda one: type(one).__name__,
)
def test_without_rules_the_best_output_is_what_the_classifier_predicts(classifier):
    classifier.fit(*blobs(0, 90))
    features, _ = blobs(1, 40)
    space = colours(4)
    scores = scores_from(space, {"c*": external_scores_of(classifier, features)})
    assert scores.shape == (10, 12)
    found = space.decode(Exact().solve(space, scores).labels)
    predicted = classifier.predict(features).reshape(10, 4)
    sure = np.sort(scores.reshape(10, 4, 3), axis=2)
    clear = sure[:, :, 2] - sure[:, :, 1] > 1e-9  # a tree has leaves that are undecided
    assert clear.sum() > 30
    for output, expected, known in zip(found, predicted, clear, strict=True):
        for t in np.flatnonzero(known):
            assert output[f"c{t}"] == expected[t]


def test_the_scores_are_log_probabilities_in_the_order_of_the_labels():
    classifier = LogisticRegression().fit(*blobs(0, 60))
    assert list(classifier.classes_) == ["blue", "green", "red"]
    features, _ = blobs(1, 6)
    scores = scores_from(colours(2), {"c*": external_scores_of(classifier, features)})
    expected = np.log(classifier.predict_proba(features)[:, [2, 1, 0]]).reshape(3, 6)
    np.testing.assert_allclose(scores, expected, atol=1e-12)


def test_the_two_columns_of_a_binary_decision_function_differ_by_what_log_probabilities_do():
    classifier = LogisticRegression().fit(*blobs(0, 60, ("no", "yes")))
    features, _ = blobs(1, 9)

    class Margins:
        classes_ = classifier.classes_
        decision_function = staticmethod(classifier.decision_function)

    margins = external_scores_of(Margins(), features).columns(("yes", "no"))
    probabilities = external_scores_of(classifier, features).columns(("yes", "no"))
    assert margins.shape == (9, 2)
    np.testing.assert_allclose(
        margins[:, 0] - margins[:, 1], probabilities[:, 0] - probabilities[:, 1], atol=1e-9
    )


def test_a_class_the_classifier_never_saw_stands_at_the_floor():
    features, gold = blobs(0, 60, LABELS[:2])
    classifier = LogisticRegression().fit(features, gold)
    opinion = external_scores_of(classifier, features[:5])
    columns = opinion.columns(LABELS)
    np.testing.assert_allclose(columns[:, 2], columns[:, :2].max(axis=1) + FLOOR)
    assert (columns[:, 2] <= columns.min(axis=1)).all()


def test_a_probability_of_zero_becomes_a_finite_score_at_the_floor():
    tree = DecisionTreeClassifier().fit(*blobs(0, 60))
    features, _ = blobs(0, 60)
    columns = external_scores_of(tree, features[:8], floor=-5.0).columns(LABELS)
    assert (np.sort(columns, axis=1) == [-5.0, -5.0, 0.0]).all()


def test_an_unseen_class_is_no_better_than_the_worst_margin():
    columns = ExternalScores(("red", "green"), [[50.0, -60.0], [1.0, 0.0]]).columns(LABELS)
    assert columns.tolist() == [[50.0, -60.0, -60.0], [1.0, 0.0, -19.0]]


def test_a_class_that_is_no_label_is_refused():
    classifier = LogisticRegression().fit(*blobs(0, 60, ("red", "green", "black")))
    opinion = external_scores_of(classifier, [[0.0, 0.0]])
    with pytest.raises(LabelError, match=r"'black'.*'c0'.*red, green, blue"):
        scores_from(colours(1), {"c0": opinion})


def test_numbers_as_classes_are_labels_by_their_digits():
    features, _ = blobs(0, 40)
    classifier = LogisticRegression().fit(features, (features[:, 0] > 0).astype(int))
    builder = SpaceBuilder()
    builder.variable("x", ("1", "0"))
    space = builder.build()
    scores = scores_from(space, {"x": external_scores_of(classifier, features[:3])})
    np.testing.assert_allclose(scores[:, ::-1], np.log(classifier.predict_proba(features[:3])))


def test_rules_on_top_are_never_broken_and_cost_no_more_than_they_must():
    classifier = LogisticRegression().fit(*blobs(0, 60, noise=2.0))
    features, _ = blobs(3, 60, noise=2.0)
    free, ruled = colours(6), colours(6, differ=True)
    scores = scores_from(ruled, {"c*": external_scores_of(classifier, features)})
    alone = Exact().solve(free, scores)
    solutions = Exact().solve(ruled, scores)
    assert not ruled.holds(alone.labels).all()
    assert ruled.holds(solutions.labels).all()
    assert (solutions.value <= alone.value + 1e-9).all()
    kept = ruled.holds(alone.labels)
    assert (solutions.labels[kept] == alone.labels[kept]).all()


# -- shapes -------------------------------------------------------------------------------


def test_groups_of_variables_take_rows_or_cubes_of_plain_numbers():
    space = entity_relation_space(3)
    rng = np.random.default_rng(0)
    entities = rng.normal(size=(5, 3, len(ENTITY_LABELS)))
    relations = rng.normal(size=(5, 6, len(RELATION_LABELS)))
    expected = np.concatenate([entities.reshape(5, -1), relations.reshape(5, -1)], axis=1)
    cubes = scores_from(space, {"e*": entities, "r*": relations})
    rows = scores_from(
        space,
        {"r*": relations.reshape(-1, len(RELATION_LABELS)), "e*": entities.reshape(15, -1)},
    )
    np.testing.assert_array_equal(cubes, expected)
    np.testing.assert_array_equal(rows, expected)
    assert space.holds(Exact().solve(space, cubes).labels).all()


def test_variables_by_name_and_variables_nobody_speaks_of():
    space = colours(3)
    scores = scores_from(space, {"c1": [[1, 2, 3], [4, 5, 6]]})
    assert scores.tolist() == [[0, 0, 0, 1, 2, 3, 0, 0, 0], [0, 0, 0, 4, 5, 6, 0, 0, 0]]
    scores[:] = 0.0  # the caller may change them


def test_a_group_without_variables_takes_no_rows():
    space = entity_relation_space(1)
    none = np.empty((0, len(RELATION_LABELS)))
    scores = scores_from(space, {"e*": np.ones((2, 4)), "r*": none})
    assert scores.tolist() == [[1.0] * 4] * 2
    with pytest.raises(LabelError, match=r"no variable is called like 'r\*'; there are 'e0'$"):
        scores_from(space, {"e*": np.ones((2, 4)), "r*": np.ones((2, len(RELATION_LABELS)))})


def test_a_name_that_ends_in_a_star_is_a_name_first():
    builder = SpaceBuilder()
    builder.variable("x*", "ab")
    builder.variable("xy", "ab")
    assert scores_from(builder.build(), {"x*": [[1.0, 2.0]]}).tolist() == [[1.0, 2.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("sources", "error", "says"),
    [
        ({}, ScoreError, "same number of inputs; got none"),
        ({"d": np.zeros((1, 3))}, LabelError, "no variable is called 'd'"),
        ({"c*": np.zeros((4, 3)), "c1": np.zeros((2, 3))}, SettingError, "speak of variable 'c1'"),
        ({"c0": np.zeros((4, 3)), "c1": np.zeros((2, 3))}, ScoreError, "'c0' for 4, 'c1' for 2"),
        ({"c*": np.zeros((4, 2))}, ScoreError, "2 columns, and variable 'c0' has 3 labels"),
        ({"c*": np.zeros((5, 3))}, ScoreError, r"\(m, 2, labels\).*got \(5, 3\)"),
        ({"c*": np.zeros((2, 3, 3))}, ScoreError, r"got \(2, 3, 3\)"),
        ({"c*": np.zeros(3)}, ScoreError, r"got \(3,\)"),
        ({"c*": [[0.0, np.nan, 0.0]] * 2}, ScoreError, "finite"),
        ({"c*": [["a", "b", "c"]]}, ScoreError, "real numbers"),
        ({"c*": [[1.0], [1.0, 2.0]]}, ScoreError, "real numbers"),
    ],
    ids=range(11),
)
def test_sources_that_do_not_fit_are_refused(sources, error, says):
    with pytest.raises(error, match=says):
        scores_from(colours(2), sources)


@pytest.mark.parametrize(
    ("classes", "scores", "floor", "error", "says"),
    [
        (("a", "b"), [[0.0, 1.0, 2.0]], -1.0, ScoreError, "column for each of 2 classes"),
        (("a", "a"), [[0.0, 1.0]], -1.0, LabelError, "each once"),
        ((), np.zeros((1, 0)), -1.0, LabelError, "one or more"),
        (("a", "b"), [[np.nan, 1.0]], -1.0, ScoreError, "finite best"),
        (("a", "b"), [[-np.inf, -np.inf]], -1.0, ScoreError, "finite best"),
        (("a", "b"), [[np.inf, 0.0]], -1.0, ScoreError, "finite best"),
        (("a", "b"), [[0.0, 0.0]], 0.0, SettingError, "below 0"),
        (("a", "b"), [[0.0, 0.0]], -np.inf, SettingError, "below 0"),
    ],
    ids=range(8),
)
def test_external_scores_that_make_no_sense_are_refused(classes, scores, floor, error, says):
    with pytest.raises(error, match=says):
        ExternalScores(classes, scores, floor)


def test_models_that_are_no_fitted_classifiers_are_refused():
    with pytest.raises(SettingError, match="fit it first"):
        external_scores_of(LogisticRegression(), [[0.0, 0.0]])

    class Mute:
        classes_ = ("a", "b")

    with pytest.raises(SettingError, match="neither predict_proba nor decision_function"):
        external_scores_of(Mute(), [[0.0]])

    class Odd(Mute):
        def predict_proba(self, features):
            return [[-0.5, 1.5]]

    with pytest.raises(ScoreError, match="below 0"):
        external_scores_of(Odd(), [[0.0]])


# -- mixtures -----------------------------------------------------------------------------


def drawn(seed, rows, spread=2.0):
    """Scores, and labels drawn from their softmax."""
    rng = np.random.default_rng(seed)
    scores = spread * rng.normal(size=(rows, 3))
    gold = [LABELS[rng.choice(3, p=p)] for p in softmax(scores)]
    return scores, gold


def likelihood(scores, gold):
    rows = np.arange(len(gold))
    return float(np.log(softmax(scores)[rows, [LABELS.index(a) for a in gold]]).mean())


@pytest.mark.parametrize("scaling", [0.01, 0.5, 1.0, 4.0, 300.0])
def test_the_temperature_undoes_a_known_scaling(scaling):
    scores, gold = drawn(0, 4000)
    mixture = learn_mixture(LABELS, {"one": scaling * scores}, gold)
    assert mixture.weights == (1.0,)
    assert mixture.temperature == pytest.approx(scaling, rel=0.1)


def test_scaling_a_source_scales_the_temperature_and_nothing_else():
    scores, gold = drawn(0, 300)
    one = learn_mixture(LABELS, {"one": scores}, gold)
    other = learn_mixture(LABELS, {"one": 50 * scores}, gold)
    assert other.temperature == pytest.approx(50 * one.temperature, rel=1e-4)


def test_the_good_source_is_trusted_and_the_random_one_is_not():
    scores, gold = drawn(1, 2000)
    noise = 2.0 * np.random.default_rng(2).normal(size=scores.shape)
    mixture = learn_mixture(LABELS, {"random": noise, "good": scores}, gold)
    assert mixture.names == ("random", "good")
    assert mixture.weights[1] > 0.95
    assert sum(mixture.weights) == pytest.approx(1.0)
    assert mixture.temperature == pytest.approx(1.0, rel=0.1)


def test_two_halves_of_the_truth_are_both_trusted():
    rng = np.random.default_rng(3)
    halves = 1.5 * rng.normal(size=(2, 4000, 3))
    gold = [LABELS[rng.choice(3, p=p)] for p in softmax(halves[0] + 2 * halves[1])]
    mixture = learn_mixture(LABELS, {"a": halves[0], "b": halves[1]}, gold)
    assert mixture.weights == pytest.approx((1 / 3, 2 / 3), abs=0.03)
    assert mixture.temperature == pytest.approx(1 / 3, rel=0.1)


def test_no_other_weights_or_temperature_are_likelier_on_held_out_data():
    scores, gold = drawn(4, 150)
    sources = {"a": scores, "b": scores + np.random.default_rng(5).normal(size=scores.shape)}
    mixture = learn_mixture(LABELS, sources, gold)
    best = likelihood(mixture.mixed(LABELS, sources), gold)
    for weight in np.linspace(0, 1, 21):
        for temperature in np.geomspace(0.2, 5, 21):
            other = Mixture(("a", "b"), (weight, 1 - weight), temperature)
            assert likelihood(other.mixed(LABELS, sources), gold) <= best + 1e-8


def test_a_mixture_of_classifiers_is_at_least_as_likely_as_the_better_of_them():
    train, held, test = blobs(0, 90, noise=1.5), blobs(1, 400, noise=1.5), blobs(2, 400, noise=1.5)
    models = {"bayes": GaussianNB(), "margins": LinearSVC(), "tree": DecisionTreeClassifier()}
    for model in models.values():
        model.fit(*train)

    def said(features):
        return {name: external_scores_of(model, features) for name, model in models.items()}

    mixture = learn_mixture(LABELS, said(held[0]), held[1])
    mixed = mixture.mixed(LABELS, said(test[0]))
    for opinion in said(test[0]).values():
        assert likelihood(mixed, test[1]) > likelihood(opinion.columns(LABELS), test[1]) - 0.01
    space = colours(4, differ=True)
    solutions = Exact().solve(space, scores_from(space, {"c*": mixed}))
    assert space.holds(solutions.labels).all()


def test_a_source_that_is_never_wrong_is_trusted_up_to_a_limit():
    scores = np.eye(3)[[0, 1, 2, 0]]
    mixture = learn_mixture(LABELS, {"one": scores}, ["red", "green", "blue", "red"])
    assert 0 < mixture.temperature < 0.1
    assert np.isfinite(mixture.mixed(LABELS, {"one": scores})).all()


def test_a_mixture_goes_through_json_and_back():
    mixture = Mixture(("a", "b"), (0.25, 0.75), 1.5)
    assert Mixture(**json.loads(json.dumps(asdict(mixture)))) == mixture
    assert hash(mixture) == hash(Mixture(("a", "b"), (0.25, 0.75), 1.5))


def test_mixing_is_a_weighted_sum_over_the_temperature():
    mixture = Mixture(("a", "b"), (0.25, 0.75), 0.5)
    mixed = mixture.mixed("xy", {"b": [[1.0, 2.0]], "a": ExternalScores(("y", "x"), [[4.0, 8.0]])})
    assert mixed.tolist() == [[0.5 * 8 + 1.5 * 1, 0.5 * 4 + 1.5 * 2]]


@pytest.mark.parametrize(
    ("names", "weights", "temperature", "says"),
    [
        ((), (), 1.0, "add up to 1"),
        (("a", "a"), (0.5, 0.5), 1.0, "named once"),
        (("a", "b"), (1.0,), 1.0, "one weight per source"),
        (("a", "b"), (1.5, -0.5), 1.0, "at least 0"),
        (("a", "b"), (0.5, 0.6), 1.0, "add up to 1"),
        (("a",), (np.nan,), 1.0, "at least 0"),
        (("a",), (1.0,), 0.0, "above 0"),
        (("a",), (1.0,), np.nan, "above 0"),
        (("a",), (1.0,), np.inf, "above 0"),
    ],
    ids=range(9),
)
def test_mixtures_that_make_no_sense_are_refused(names, weights, temperature, says):
    with pytest.raises(SettingError, match=says):
        Mixture(names, weights, temperature)


@pytest.mark.parametrize(
    ("sources", "gold", "error", "says"),
    [
        ({}, ["red"], SettingError, "at least one source"),
        ({"a": np.zeros((2, 3))}, ["red"], DataError, "got 1 for 2 rows"),
        ({"a": np.zeros((0, 3))}, [], DataError, "at least one"),
        ({"a": np.zeros((1, 2))}, ["red"], ScoreError, "3 columns"),
        ({"a": np.zeros((1, 3)), "b": np.zeros((2, 3))}, ["red"], ScoreError, "same decisions"),
        ({"a": np.zeros((1, 2, 3))}, ["red"], ScoreError, r"\(rows, labels\)"),
        ({"a": np.eye(3)}, ["red", "green", "black"], LabelError, "'black' is not a label"),
        ({"a": -np.eye(3)}, list(LABELS), DataError, "likelier than chance"),
        ({"a": np.zeros((3, 3))}, list(LABELS), DataError, "likelier than chance"),
    ],
    ids=range(9),
)
def test_held_out_data_that_does_not_fit_is_refused(sources, gold, error, says):
    with pytest.raises(error, match=says):
        learn_mixture(LABELS, sources, gold)


def test_a_mixture_wants_the_sources_it_was_learned_with():
    with pytest.raises(SettingError, match=r"of a, b; got a, c"):
        Mixture(("a", "b"), (0.5, 0.5), 1.0).mixed("xy", {"a": [[0, 0]], "c": [[0, 0]]})


# -- tables, masks and tensors ------------------------------------------------------------


def test_a_table_is_read_by_the_names_of_its_columns():
    frame = pd.DataFrame({"blue": [0.0, 1.0], "red": [2.0, 0.5], "green": [3.0, -np.inf]})
    scores = scores_from(colours(2), {"c*": frame})
    assert scores.tolist() == [[2.0, 3.0, 0.0, 0.5, -np.inf, 1.0]]
    for wrong, match in (
        (frame.rename(columns={"red": "rot"}), "missing: red; unknown: rot"),
        (frame.assign(row=1), "unknown: row"),
        (frame[["red"]], "missing: green, blue"),
    ):
        with pytest.raises(ScoreError, match=f"by its name; {match}"):
            scores_from(colours(2), {"c*": wrong})


def test_minus_infinity_forbids_a_label_however_it_is_given():
    said = np.array([[0.0, -np.inf, 1.0], [-np.inf, -np.inf, 0.0]])
    for source in (said, torch.tensor(said, requires_grad=True), ExternalScores(LABELS, said)):
        scores = scores_from(colours(2), {"c*": source})
        assert scores.tolist() == [said.ravel().tolist()]
        assert Exact().solve(colours(2), scores).labels.tolist() == [[2, 2]]
    for wrong in (np.nan, np.inf):
        said[1, 1] = wrong
        with pytest.raises(ScoreError, match=rf"got {wrong} at \[1, 1\]"):
            scores_from(colours(2), {"c*": said})


def test_what_one_source_of_a_mixture_forbids_is_forbidden():
    masked = ExternalScores(LABELS, [[0.0, -np.inf, 1.0]])
    mixture = Mixture(("a", "b"), (1.0, 0.0), 2.0)
    found = mixture.mixed(LABELS, {"a": np.array([[4.0, 2.0, -6.0]]), "b": masked})
    assert found.tolist() == [[2.0, -np.inf, -3.0]]
    with pytest.raises(ScoreError, match=r"scores are finite; got -inf at \[0, 1\]"):
        learn_mixture(LABELS, {"b": masked}, ["red"])


def test_probabilities_are_warned_of_where_the_call_stands():
    said = softmax(np.random.default_rng(0).normal(size=(4, 3)))
    with pytest.warns(UserWarning, match=r"look like probabilities.*np\.log") as seen:
        scores_from(colours(2), {"c*": ExternalScores(LABELS, said)})
    assert seen[0].filename == __file__
    for fine in (np.log(said), np.eye(4)[:, :3], said * 2, said[:, :1] * np.ones(3)):
        scores_from(colours(2), {"c*": fine})
