"""External scores: rules on top of a model that exists already.

A classifier that decides every variable by itself needs no training again to obey rules. What
it says becomes the scores of a space, and an engine finds the best output that the rules allow:

    scores = scores_from(space, {"e*": external_scores_of(classifier, features)})
    solutions = Exact().solve(space, scores)
    outputs = space.decode(solutions.labels)

Where several models speak of the same decisions, a `Mixture` says how far each is trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias, cast
from warnings import warn

import numpy as np

from rote.errors import DataError, LabelError, ScoreError, SettingError
from rote.io.tables import as_array, check_names, columns_of, numbers
from rote.settings import LIST, Checked, Setting, number
from rote.space import Space, Variable
from rote.tasks.task import positions
from rote.types import AnyArray, FloatArray, readonly

FLOOR = -20.0  # how far below the best class of its row a class stands that has no probability
MAX_STRENGTH = 100.0  # where trust in a source ends that is never wrong, in its own unit


@dataclass(frozen=True, eq=False)
class ExternalScores(Checked):
    """What a model says of some decisions: a row for each, a column for each of its classes.

    Parameters
    ----------
    classes
        The model's classes, each once.
    scores
        Of shape (rows, classes), or (inputs, variables, classes); -inf forbids a label.
    floor
        How far below the best of its row a label stands, a number below 0, that is no class of
        the model; where the worst of the row is lower still, it is there.
    """

    classes: tuple[str, ...]
    scores: FloatArray
    floor: float = FLOOR

    checks: ClassVar = {"classes": LIST, "floor": number(below=0)}

    def __post_init__(self) -> None:
        super().__post_init__()
        classes, scores = tuple(map(str, self.classes)), _real(self.scores)
        if not classes or len(set(classes)) != len(classes):
            raise LabelError(f"external scores have one or more classes, each once; got {classes}")
        if scores.shape[-1] != len(classes):
            raise ScoreError(
                f"external scores have a column for each of {len(classes)} classes; got the shape "
                f"{scores.shape}"
            )
        best = scores.max(axis=-1, keepdims=True)
        if not np.isfinite(best).all() or np.isnan(scores).any():
            raise ScoreError(
                "each row of external scores has a finite best score; -inf, for what is "
                "forbidden, is the only other number it may hold"
            )
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "scores", readonly(scores))

    def columns(self, labels: Sequence[str], of: str = "the labels") -> FloatArray:
        """The scores in the order of these labels."""
        unknown = [label for label in self.classes if label not in labels]
        if unknown:
            raise LabelError(
                f"the classifier has the class {unknown[0]!r}, which is no label of {of}: "
                f"{', '.join(labels)}; name its classes after the labels"
            )
        result = np.repeat(_lowest(self.scores, self.floor), len(labels), axis=-1)
        result[..., [labels.index(label) for label in self.classes]] = self.scores
        return result


Given: TypeAlias = ExternalScores | AnyArray


def external_scores_of(classifier: Any, features: Any, floor: float = FLOOR) -> ExternalScores:
    """What a fitted scikit-learn classifier says: log-probabilities, or else its decision function.

    The decision function d of two classes becomes the columns -d/2 and d/2, so that their
    difference is d, as it is for log-probabilities.

    Parameters
    ----------
    classifier
        It is fitted, and has ``predict_proba`` or ``decision_function``.
    features
        What it is asked about, one row per decision.
    floor
        As for `ExternalScores`; a class whose probability is 0 stands there, too.
    """
    classes = getattr(classifier, "classes_", None)
    if classes is None:
        raise SettingError(
            f"a classifier that is fitted has classes_, and {type(classifier).__name__} has none; "
            "fit it first, or give its scores as an array"
        )
    if hasattr(classifier, "predict_proba"):
        said = _real(classifier.predict_proba(features))
        if (said < 0).any():
            raise ScoreError(f"predict_proba gave a probability below 0, {said.min()}")
        with np.errstate(divide="ignore"):
            said = np.log(said)
    elif hasattr(classifier, "decision_function"):
        said = _real(classifier.decision_function(features))
        if said.ndim == 1:
            said = np.stack([-said / 2, said / 2], axis=1)
    else:
        raise SettingError(
            f"{type(classifier).__name__} has neither predict_proba nor decision_function; give "
            "its scores as an array"
        )
    said = np.where(np.isneginf(said), _lowest(said, floor), said)
    return ExternalScores(tuple(map(str, np.asarray(classes).tolist())), said, floor)


def _lowest(scores: FloatArray, floor: float) -> FloatArray:
    """Where a label stands in each row that nothing is known of."""
    least = np.where(np.isneginf(scores), np.inf, scores).min(axis=-1, keepdims=True)
    return np.asarray(np.minimum(least, scores.max(axis=-1, keepdims=True) + floor))


def scores_from(space: Space, sources: Mapping[str, Given]) -> FloatArray:
    """Scores of shape (m, parts) for m inputs that share a space.

    Variables that no source speaks of, and factors, score 0; the array is yours to change.

    Parameters
    ----------
    space
        The space that all inputs share.
    sources
        A key is the name of a variable, or the beginning of some names and a star: "e*" stands for
        e0, e1, … in the order of the space. Its value is an `ExternalScores`, or an array or
        tensor whose columns are in the order of the labels, of shape (m, variables, labels), or
        (m · variables, labels) with all variables of the first input first; -inf forbids a label.
        Or it is a DataFrame or an Arrow table with a column for each label, named after it.

    Examples
    --------
    >>> from rote import Exact, SpaceBuilder
    >>> from sklearn.linear_model import LogisticRegression
    >>> builder = SpaceBuilder()
    >>> first, second = (builder.variable(f"step{t}", ("go", "stop")) for t in range(2))
    >>> builder.require(first["stop"] >> second["stop"], "who stops does not go on")
    >>> space = builder.build()
    >>> light = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["go", "go", "stop", "stop"])

    The three lines, for two inputs with two steps each:

    >>> features = [[0.1], [2.9], [1.6], [1.0]]
    >>> scores = scores_from(space, {"step*": external_scores_of(light, features)})
    >>> space.decode(Exact().solve(space, scores).labels)
    [{'step0': 'go', 'step1': 'stop'}, {'step0': 'go', 'step1': 'go'}]
    """
    found: dict[str, tuple[tuple[Variable, ...], FloatArray]] = {}
    known: dict[str, Given] = {}
    spoken: dict[int, str] = {}
    for key, given in sources.items():
        group = _group(space, key)
        known[key] = given = _by_name(group, given)
        for variable in group:
            other = spoken.setdefault(variable.index, key)
            if other != key:
                raise SettingError(
                    f"both {other!r} and {key!r} speak of variable {variable.name!r}; mix them "
                    "first, or name variables apart"
                )
        found[key] = group, _cube(space, key, group, given)
    inputs = {key: len(cube) for key, (group, cube) in found.items() if group}
    if len(set(inputs.values())) != 1:
        each = ", ".join(f"{key!r} for {count}" for key, count in inputs.items()) or "none"
        raise ScoreError(f"all sources speak for the same number of inputs; got {each}")
    scores = np.zeros((next(iter(inputs.values())), space.parts))
    for key, (group, cube) in found.items():
        for k, variable in enumerate(group):
            start, own, given = int(space.offsets[variable.index]), cube[:, k], known[key]
            if isinstance(given, ExternalScores):
                source = replace(given, scores=own)
                own = source.columns(variable.labels, f"variable {variable.name!r}")
            scores[:, start : start + len(variable.labels)] = own
    return scores


@dataclass(frozen=True)
class Mixture(Checked):
    """How far each source is trusted: score = Σ_s weight_s · score_s / temperature.

    See `learn_mixture`.

    Parameters
    ----------
    names
        The sources, each once.
    weights
        One for each of them, at least 0; they add up to 1.
    temperature
        Above 0; the higher, the closer to each other are the scores.
    """

    names: tuple[str, ...]
    weights: tuple[float, ...]
    temperature: float

    checks: ClassVar = {
        "names": LIST,
        "weights": Setting(
            "a list of numbers of at least 0 that add up to 1",
            lambda value: all(w >= 0 for w in value) and abs(sum(value) - 1) < 1e-6,
            lambda value: tuple(map(float, value)),
        ),
        "temperature": number(above=0),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.names)) != len(self.names) or len(self.weights) != len(self.names):
            raise SettingError(
                f"a mixture has one weight per source, each named once; got {len(self.weights)} "
                f"weights for {self.names}"
            )

    def mixed(self, labels: Sequence[str], sources: Mapping[str, Given]) -> FloatArray:
        """The scores of all sources in one array, its columns in the order of the labels.

        What one of them forbids, by -inf, is forbidden.
        """
        if set(sources) != set(self.names):
            raise SettingError(
                f"this mixture is of {', '.join(self.names)}; got {', '.join(sources) or 'none'}"
            )
        stacked = _stacked(labels, {name: sources[name] for name in self.names}, "mask")
        forbidden = np.isneginf(stacked)
        total = np.zeros(stacked.shape[1:])
        for weight, scores in zip(self.weights, np.where(forbidden, 0.0, stacked), strict=True):
            total += weight / self.temperature * scores
        return np.where(forbidden.any(axis=0), -np.inf, total)


def learn_mixture(
    labels: Sequence[str], sources: Mapping[str, Given], gold: Sequence[str]
) -> Mixture:
    """The weights and the temperature under which held-out decisions are likeliest.

    We maximise

        Σ_rows log softmax(Σ_s β_s · score_s)[gold]      over β_s ≥ 0,

    with weight_s = β_s / Σβ and temperature = 1 / Σβ. This is concave, so there is one answer and
    nothing to tune; it looks at single decisions and so needs no inference; and it sets the scale
    of the scores, which a perceptron over the sources would leave open. The scale matters as soon
    as mixtures of different sorts of variables meet in one space.

    Parameters
    ----------
    labels
        Those of the variables.
    sources
        By name, the scores of held-out decisions.
    gold
        The right label of each row.
    """
    from scipy.optimize import minimize

    if not sources:
        raise SettingError("a mixture has at least one source, got none")
    stacked = _stacked(labels, sources, "finite")
    if stacked.ndim != 3:
        raise ScoreError(f"held-out scores have the shape (rows, labels), got {stacked.shape[1:]}")
    if len(gold) != stacked.shape[1] or not len(gold):
        raise DataError(
            f"there is one right label for each row of scores, and at least one; got {len(gold)} "
            f"for {stacked.shape[1]} rows"
        )
    right = np.array(positions(tuple(labels), [str(label) for label in gold]))
    # What counts is how far each label stands above the right one, in units of the source's own,
    # so that the search takes steps of the same size whatever the scale of a source.
    leads = stacked - stacked[:, np.arange(len(right)), right][:, :, None]
    units = np.abs(leads).mean(axis=(1, 2))
    silent = units == 0.0
    units[silent] = 1.0
    leads = leads / units[:, None, None]

    def cost(strengths: FloatArray) -> tuple[float, FloatArray]:
        mixed = np.tensordot(strengths, leads, axes=1)
        top = mixed.max(axis=1, keepdims=True)
        raised = np.exp(mixed - top)
        total = raised.sum(axis=1, keepdims=True)
        slope = np.einsum("sra,ra->s", leads, raised / total)
        return float((top + np.log(total)).mean()), slope / len(right)

    found = minimize(
        cost,
        np.full(len(leads), 1.0 / len(leads)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, MAX_STRENGTH)] * len(leads),
        options={"ftol": 1e-13, "gtol": 1e-9, "maxiter": 1000},
    )
    strengths = np.where(silent, 0.0, found.x)
    if strengths.max() < 1e-6:
        raise DataError(
            "no source makes the held-out labels likelier than chance; check that its columns are "
            "in the order of the labels"
        )
    strengths /= units
    total = float(strengths.sum())
    return Mixture(tuple(sources), tuple((strengths / total).tolist()), 1.0 / total)


def _group(space: Space, key: str) -> tuple[Variable, ...]:
    """The variables that a key of sources stands for."""
    names = {variable.name for variable in space.variables}
    if key in names or not key.endswith("*"):
        return (space[key],)
    return tuple(v for v in space.variables if v.name.startswith(key[:-1]))


def _by_name(group: Sequence[Variable], given: Any) -> Given:
    """A table as scores whose columns have names; what is none as it is."""
    table = columns_of(given)
    if table is None:
        return cast(Given, given)
    for variable in group:
        check_names(table, variable.labels)
    return ExternalScores(tuple(table), numbers(table, tuple(table)))


def _cube(space: Space, key: str, group: Sequence[Variable], given: Given) -> FloatArray:
    """Scores of shape (m, variables, columns)."""
    scores = given.scores if isinstance(given, ExternalScores) else _real(given, "mask")
    warn_of_probabilities(scores, stacklevel=4)
    count, shape = len(group), scores.shape
    if not isinstance(given, ExternalScores):
        for variable in group:
            if shape[-1] != len(variable.labels):
                raise ScoreError(
                    f"source {key!r} has {shape[-1]} columns, and variable {variable.name!r} has "
                    f"{len(variable.labels)} labels"
                )
    if scores.ndim == 2 and (shape[0] % count == 0 if count else shape[0] == 0):
        return scores.reshape(shape[0] // max(1, count), count, shape[1])
    if scores.ndim == 3 and shape[1] == count:
        return scores
    if not group:
        some = ", ".join(map(repr, space.names[:10]))
        raise LabelError(f"no variable is called like {key!r}; there are {some}")
    raise ScoreError(
        f"source {key!r} stands for {count} variables: its scores have the shape (m, {count}, "
        f"labels) or (m · {count}, labels); got {shape}"
    )


def _stacked(labels: Sequence[str], sources: Mapping[str, Given], may: str) -> FloatArray:
    """The scores of all sources, the sources along the first axis."""
    each: list[FloatArray] = []
    for name, given in sources.items():
        own = _real(given.columns(labels) if isinstance(given, ExternalScores) else given, may)
        if own.shape[-1] != len(labels) or own.shape != (each[0].shape if each else own.shape):
            raise ScoreError(
                f"all sources score the same decisions in {len(labels)} columns; {name!r} has the "
                f"shape {own.shape}"
            )
        each.append(own)
    return np.stack(each)


def _real(given: Any, may: str = "any") -> FloatArray:
    """An array of real numbers: "any", "finite" ones, or a "mask" with -inf among them."""
    try:
        scores = as_array(given)
    except (TypeError, ValueError):
        scores = np.empty(())
    if scores.ndim < 1 or scores.dtype.kind not in "fiub":
        raise ScoreError(
            f"scores are an array of real numbers, one row per decision; got {given!r:.80}"
        )
    wrong = ~np.isfinite(scores)
    if may == "mask":
        wrong &= scores != -np.inf
    if may != "any" and wrong.any():
        place = np.argwhere(wrong)[0].tolist()
        raise ScoreError(
            f"scores are finite{', or -inf for a label that is forbidden' * (may == 'mask')}; got "
            f"{scores[tuple(place)]} at {place}"
        )
    return scores.astype(np.float64)


def warn_of_probabilities(scores: AnyArray, stacklevel: int) -> None:
    """Warn of scores that look like probabilities, whose sums say nothing; a row per decision."""
    if scores.shape[-1] < 2 or not scores.size or scores.min() < 0.0 or scores.max() > 1.0:
        return
    sums = scores.sum(axis=-1, dtype=np.float64)
    if (np.abs(sums - 1.0) < 1e-2).all() and (scores % 1.0 > 0.0).any():
        warn(
            "these scores look like probabilities: each row is from 0 to 1 and adds up to 1; the "
            "best sum is the likeliest output for log-probabilities, so give np.log(scores)",
            stacklevel=stacklevel,
        )
