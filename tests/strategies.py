"""Random spaces for Hypothesis, and a judge of every answer.

The judge lists all outputs with `itertools.product`, reads rules by a recursion of its own
and adds scores up part by part. It shares no code with the library but the classes that
rules are made of, so an error would have to be made twice to go unnoticed.
"""

import itertools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import NamedTuple
from unittest import mock

import numpy as np
from hypothesis import strategies as st

from rote.inference.problem import TIE, Problem
from rote.kernels.constants import WIDE
from rote.space import (
    Space,
    SpaceBuilder,
    acyclic,
    all_different,
    all_of,
    any_of,
    at_least,
    at_most,
    compiled,
    count,
    exactly,
    network,
    one_of,
)
from rote.space import builder as builder_module
from rote.space.language import Acyclic, And, Implies, Is, Linear, LinearRows, Not, Or, Tuples

# -- the judge ----------------------------------------------------------------------------


def holds(rule, labels) -> bool:
    """Whether one output, a tuple of labels, obeys a rule."""
    if isinstance(rule, Is):
        return labels[rule.variable.index] == rule.label
    if isinstance(rule, Not):
        return not holds(rule.of, labels)
    if isinstance(rule, And):
        return all(holds(inner, labels) for inner in rule.of)
    if isinstance(rule, Or):
        return any(holds(inner, labels) for inner in rule.of)
    if isinstance(rule, Implies):
        return holds(rule.then, labels) if holds(rule.first, labels) else True
    if isinstance(rule, Tuples):
        return tuple(labels[variable.index] for variable in rule.over) in rule.allowed
    if isinstance(rule, Linear):
        total = sum(coefficient for coefficient, term in rule.terms if holds(term, labels))
        above = rule.lower is None or total >= rule.lower
        return above and (rule.upper is None or total <= rule.upper)
    if isinstance(rule, LinearRows):
        return all(_row_holds(rule, r, labels) for r in range(len(rule.lower)))
    if isinstance(rule, Acyclic):
        arcs = zip(rule.nodes, rule.arcs, strict=True)
        return not has_cycle([pair for pair, arc in arcs if holds(arc, labels)])
    raise AssertionError(f"the judge does not know {type(rule).__name__}; teach it")


def has_cycle(pairs) -> bool:
    """Whether some node reaches itself: the paths of all lengths, one by one."""
    paths = set(pairs)
    for _ in range(len(pairs)):
        paths |= {(a, d) for a, b in paths for c, d in pairs if b == c}
    return any(a == b for a, b in paths)


def _row_holds(rows, r, labels) -> bool:
    total = 0
    for k in range(rows.ptr[r], rows.ptr[r + 1]):
        first = 0
        for variable in rows.known:
            at = int(rows.column[k]) - first
            if 0 <= at < len(variable.labels) and labels[variable.index] == at:
                total += int(rows.coefficient[k])
            first += len(variable.labels)
    return rows.lower[r] <= total <= rows.upper[r]


def known_value(space: Space, scores, labels) -> float:
    """The sum of the scores at an output's parts: labels first, then label tuples."""
    total, first = 0.0, 0
    for variable, label in zip(space.variables, labels, strict=True):
        total += float(scores[first + label])
        first += len(variable.labels)
    for factor in space.factors:
        sizes = [len(space.variables[j].labels) for j in factor.variables]
        code = 0
        for j, size in zip(factor.variables, sizes, strict=True):
            code = code * size + labels[j]
        total += float(scores[first + code])
        first += math.prod(sizes)
    return total


def parts_of(space: Space, labels) -> list[int]:
    """The parts of an output, one per variable and one per factor."""
    sizes, first, parts = [len(v.labels) for v in space.variables], 0, []
    for size, label in zip(sizes, labels, strict=True):
        parts.append(first + label)
        first += size
    for factor in space.factors:
        code = 0
        for j in factor.variables:
            code = code * sizes[j] + labels[j]
        parts.append(first + code)
        first += math.prod(sizes[j] for j in factor.variables)
    return parts


def losses_of(space: Space, scores, allowed=None) -> list[Fraction | None]:
    """What each part lacks of the best of its variable or factor, exactly; None if closed."""
    exact = [Fraction(float(score)) for score in scores]
    for part, is_open in enumerate([] if allowed is None else allowed):
        exact[part] = exact[part] if is_open else None
    found, first = [], 0
    sizes = [len(v.labels) for v in space.variables]
    tuples = [math.prod(sizes[j] for j in factor.variables) for factor in space.factors]
    for size in sizes + tuples:
        own = exact[first : first + size]
        top = max((score for score in own if score is not None), default=None)
        found += [None if score is None else top - score for score in own]
        first += size
    return found


def tie_of(losses, lost: Fraction) -> Fraction:
    """A tie, given all losses, and what the best output loses."""
    counted = [loss for loss in losses if loss is not None and loss <= WIDE * lost]
    return Fraction(TIE) * max(counted, default=0)


class Best(NamedTuple):
    labels: tuple[int, ...]
    value: float


def first_within_a_tie(space: Space, scores, valued, allowed=None, tie=None) -> Best:
    """Of some outputs, in order, the first within one tie of the best, or that one, exactly."""
    # All others are too far from the best for a tie, whatever is lost in adding up.
    room = 1e-6 * math.fsum(abs(float(score)) for score in scores)
    top = max(one.value for one in valued)
    losses = losses_of(space, scores, allowed)
    near = [
        (one, sum(losses[part] for part in parts_of(space, one.labels)))
        for one in valued
        if one.value >= top - room
    ]
    least = min(lost for _, lost in near)
    tie = tie_of(losses, least) if tie is None else Fraction(float(tie))
    return next(one for one, lost in near if lost <= least + tie)


class Judge:
    """Everything there is to know about a small space, by looking at all of its outputs."""

    def __init__(self, space: Space) -> None:
        self.space = space
        ranges = [range(len(variable.labels)) for variable in space.variables]
        self.everything = list(itertools.product(*ranges))
        self.outputs = [
            labels
            for labels in self.everything
            if all(holds(named.rule, labels) for named in space.rules)
        ]

    @property
    def feasible(self) -> bool:
        return bool(self.outputs)

    @property
    def everything_as_array(self):
        """Every joint labelling, allowed or not, as a batch."""
        shape = (len(self.everything), len(self.space.variables))
        return np.array(self.everything, dtype=np.int64).reshape(shape)

    def open_outputs(self, allowed=None) -> list[tuple[int, ...]]:
        """The outputs that obey the rules and take allowed labels only, in order."""
        if allowed is None:
            return self.outputs
        starts = [0, *itertools.accumulate(len(v.labels) for v in self.space.variables)]
        return [
            labels
            for labels in self.outputs
            if all(allowed[start + label] for start, label in zip(starts, labels, strict=False))
        ]

    def valued(self, scores, allowed=None) -> list[Best]:
        return [
            Best(labels, known_value(self.space, scores, labels))
            for labels in self.open_outputs(allowed)
        ]

    def best(self, scores, allowed=None, tie=None) -> Best | None:
        """The first output in lexicographic order within one tie of the best.

        Kernels do not know which losses count: they are given a tie.
        """
        valued = self.valued(scores, allowed)
        if not valued:
            return None
        return first_within_a_tie(self.space, scores, valued, allowed, tie)

    def ranked(self, scores, allowed=None) -> list[Best]:
        """All outputs, best first, equals in lexicographic order."""
        return sorted(self.valued(scores, allowed), key=lambda one: (-one.value, one.labels))

    def max_marginals(self, scores, allowed=None) -> list[float]:
        """For each label of each variable, the value of the best output that has it."""
        sizes = [len(variable.labels) for variable in self.space.variables]
        top = [[-math.inf] * size for size in sizes]
        for labels, value in self.valued(scores, allowed):
            for j, label in enumerate(labels):
                top[j][label] = max(top[j][label], value)
        return [value for one in top for value in one]


def best_by_enumeration(space: Space, scores, allowed=None) -> Best | None:
    """The best output of one input and its value, or None where nothing is feasible."""
    return Judge(space).best(scores, allowed)


# -- rules kept as rows -------------------------------------------------------------------


@contextmanager
def rules_as_rows(max_entries: int | None = 1) -> Iterator[None]:
    """Let rules become tables only up to so many entries, and forget what was compiled.

    With None, everything is as it is without this. Spaces are equal when their fingerprints
    are, so what engines remember of them must be forgotten on the way in and on the way out.
    """
    if max_entries is None:
        yield
        return
    limits = [name for name in vars(network) if name.startswith("MAX_ENTRIES")]
    assert len(limits) >= 3
    forget_compiled()
    try:
        with mock.patch.multiple(network, **dict.fromkeys(limits, max_entries)):
            yield
    finally:
        forget_compiled()


def forget_compiled() -> None:
    """Forget every compiled form of every space."""
    for forms in list(compiled._FORMS.values()):
        forms._built.clear()


# -- spaces -------------------------------------------------------------------------------

LETTERS = "abcd"


@st.composite
def rules(draw, variables, depth: int = 3):
    """A rule over these variables, nested up to ``depth`` deep, of any kind of node."""
    return _rule(draw, tuple(variables), depth)


SIMPLE = ("is", "is", "set", "one of", "different")
NESTED = ("not", "and", "or", "implies", "linear", "most", "least", "exactly", "acyclic", *SIMPLE)
COMPARE = (
    lambda total, limit: total <= limit,
    lambda total, limit: total >= limit,
    lambda total, limit: total == limit,
    lambda total, limit: total != limit,
    lambda total, limit: total < limit,
    lambda total, limit: total > limit,
)


def _rule(draw, variables, depth: int):
    # One strategy for the whole rule rather than one per node, which takes five times as long.
    kind = _pick(draw, NESTED if depth else SIMPLE)
    variable = _pick(draw, variables)
    if kind == "is":
        return variable[_pick(draw, variable.labels)]
    if kind == "set":
        return any_of(variable[_pick(draw, variable.labels)] for _ in range(2))
    if kind == "one of":
        over = _some(draw, variables, 3)
        every = list(itertools.product(*(v.labels for v in over)))
        return one_of(over, [_pick(draw, every) for _ in range(draw(st.integers(0, 5)))])
    if kind == "different":
        over = _some(draw, variables, 3)
        # Over one variable it says nothing, and a builder answers such a rule at once.
        return all_different(over) if len(over) > 1 else ~variable[variable.labels[-1]]
    if kind == "acyclic":
        pairs = _some(draw, list(itertools.product(range(4), repeat=2)), 6)
        labels = [_pick(draw, variables) for _ in pairs]
        arcs = zip(pairs, (v[_pick(draw, v.labels)] for v in labels), strict=True)
        return acyclic(dict(arcs))
    inner = [_rule(draw, variables, depth - 1) for _ in range(draw(st.integers(1, 3)))]
    if kind == "not":
        return ~inner[0]
    if kind == "and":
        return inner[0] & inner[-1] if draw(st.booleans()) else all_of(inner)
    if kind == "or":
        return inner[0] | inner[-1] if draw(st.booleans()) else any_of(inner)
    if kind == "implies":
        return inner[0] >> inner[-1]
    limit = draw(st.integers(0, 2))
    if kind in ("most", "least", "exactly"):
        return {"most": at_most, "least": at_least, "exactly": exactly}[kind](limit, inner)
    total = sum((draw(st.integers(-2, 3)) * rule for rule in inner), start=count())
    return _pick(draw, COMPARE)(total, limit)


def _pick(draw, options):
    return options[draw(st.integers(0, len(options) - 1))]


def _some(draw, options, most: int) -> list:
    """One or more different options, in any order."""
    left, chosen = list(options), []
    for _ in range(draw(st.integers(1, min(most, len(left))))):
        chosen.append(left.pop(draw(st.integers(0, len(left) - 1))))
    return chosen


def _variables(draw, builder: SpaceBuilder, least: int, most: int, labels: int = 4):
    sizes = [draw(st.integers(1, labels)) for _ in range(draw(st.integers(least, most)))]
    return [builder.variable(f"x{j}", LETTERS[:size]) for j, size in enumerate(sizes)]


def _join(builder: SpaceBuilder, scopes) -> None:
    """A factor over each of these lists of variables, but for single ones and repeats."""
    for scope in {tuple(v.index for v in scope): scope for scope in scopes}.values():
        if len(scope) > 1:
            builder.factor(*scope)


def said_twice(draw, builder: SpaceBuilder, other: SpaceBuilder | None, variables) -> None:
    """Implications and counts in bulk to the one builder, one by one to the other."""
    # toulbar2 dies of a rule between two variables where one of them has a single label.
    some = [variable for variable in variables if len(variable.labels) > 1] or variables
    labels = [variable[label] for variable in some for label in variable.labels]
    pairs = [[_pick(draw, labels), _pick(draw, labels)] for _ in range(draw(st.integers(0, 3)))]
    builder.require_implications(*([pair[k] for pair in pairs] for k in (0, 1)), name="implied")
    groups = [_some(draw, labels, 4) for _ in range(draw(st.integers(0, 2)))]
    if groups and draw(st.booleans()):
        groups[0].append(groups[0][0])  # which counts twice
    low, high = ([draw(st.integers(0, 1)) + k for _ in groups] for k in (0, 1))
    sides = draw(st.integers(0, 2))
    lower = None if sides == 0 else np.array(low, np.int64)
    upper = None if sides == 1 else np.array(high, np.int64)
    builder.require_counts(groups, at_least=lower, at_most=upper, name="counted")
    row = _some(draw, labels, 3)
    weights = [draw(st.integers(-2, 3)) for _ in row]
    limit = max(0, draw(st.integers(-1, 3)))
    builder.require_rows(row, weights, [0], at_most=limit, name="weighed")
    if other is None:
        return
    own = {variable.name: variable for variable in other.build().variables}

    def same(rule):
        return Is(own[rule.variable.name], rule.label)

    for first, then in pairs:
        other.require(same(first) >> same(then))
    weighed = zip(weights, map(same, row), strict=True)
    other.require(sum((c * rule for c, rule in weighed), start=count()) <= limit)
    for group, least, most in zip(groups, low, high, strict=True):
        if lower is not None:
            other.require(at_least(least, map(same, group)))
        if upper is not None:
            other.require(at_most(most, map(same, group)))


@st.composite
def spaces(draw, least: int = 0, most: int = 5, max_rules: int = 3, depth: int = 3) -> Space:
    """Variables of mixed sizes, factors of two to five variables in any order, nested rules."""
    builder = SpaceBuilder()
    variables = _variables(draw, builder, least, most)
    if len(variables) > 1:
        scopes = [_some(draw, variables, 5) for _ in range(draw(st.integers(0, 4)))]
        _join(builder, scopes)
    if variables:
        for k in range(draw(st.integers(0, max_rules))):
            builder.require(_rule(draw, variables, depth), f"rule {k}")
        if max_rules and draw(st.integers(0, 3)) == 0:
            said_twice(draw, builder, None, variables)
    return builder.build()


@st.composite
def separable_spaces(draw) -> Space:
    """Rules over one variable each, and no factor."""
    builder = SpaceBuilder()
    for variable in _variables(draw, builder, 0, 5):
        if draw(st.integers(0, 2)) == 0:
            builder.require(_rule(draw, [variable], 2), f"about {variable.name}")
    return builder.build()


@st.composite
def chain_spaces(draw, order: int = 3) -> Space:
    """Factors and rules over at most ``order + 1`` consecutive variables."""
    builder = SpaceBuilder()
    variables = _variables(draw, builder, 0, 6, labels=3)
    scopes = []
    for end in range(1, len(variables)):
        window = variables[max(0, end - order) : end + 1]
        scopes += [_some(draw, window, order + 1) for _ in range(draw(st.integers(0, 2)))]
        if draw(st.integers(0, 3)) == 0:
            builder.require(_rule(draw, window, 2), f"up to {end}")
    _join(builder, scopes)
    return builder.build()


@st.composite
def tree_spaces(draw) -> Space:
    """Factors and rules over the edges of a forest whose variables come in any order."""
    builder = SpaceBuilder()
    variables = _variables(draw, builder, 0, 6, labels=3)
    order = draw(st.permutations(variables))
    for k in range(1, len(order)):
        if draw(st.integers(0, 5)) == 0:
            continue  # a root
        pair = [order[k], order[draw(st.integers(0, k - 1))]]
        if draw(st.integers(0, 3)):
            builder.factor(*(pair if draw(st.booleans()) else pair[::-1]))
        if draw(st.integers(0, 3)) == 0:
            builder.require(_rule(draw, pair, 2), f"edge {k}")
    return builder.build()


@st.composite
def pair_spaces(draw, most: int = 6, labels: int = 4) -> Space:
    """Factors and rules over pairs, in any order, with loops; some variables stand alone."""
    builder = SpaceBuilder()
    variables = _variables(draw, builder, 1, most, labels)
    for k, pair in enumerate(itertools.combinations(variables, 2)):
        scope = list(pair if draw(st.booleans()) else pair[::-1])
        if draw(st.integers(0, 1)):
            builder.factor(*scope)
        if draw(st.integers(0, 5)) == 0:
            builder.require(_rule(draw, scope, 2), f"pair {k}")
    return builder.build()


@st.composite
def flat_rule_spaces(draw, most: int = 6) -> Space:
    """Implications, exclusions and counts of labels, few of which need an auxiliary variable."""
    builder = SpaceBuilder()
    variables = _variables(draw, builder, 2, most, labels=3)
    if draw(st.integers(0, 2)) == 0:
        _join(builder, [_some(draw, variables, 3) for _ in range(draw(st.integers(1, 2)))])

    def literal(variable):
        # Later labels above all: then the first ones are safe, and groups fall together.
        at = -1 if draw(st.integers(0, 3)) else draw(st.integers(0, len(variable.labels) - 1))
        rule = variable[variable.labels[at]]
        return rule if draw(st.integers(0, 4)) else ~rule

    for k in range(draw(st.integers(1, 6))):
        first, *others = map(literal, _some(draw, variables, 4))
        limit = draw(st.integers(0, 1))
        some = [any_of(first, others)]
        if others:
            some += [first >> others[0], others[0] >> first, first >> all_of(others)]
            some += [at_most(1 + limit, first, others), exactly(1, first, others)]
            some.append(2 * first - count(others) <= limit)
        rule = _pick(draw, some)
        builder.require(rule, f"rule {k}")
    return builder.build()


@st.composite
def dense_spaces(draw, most: int = 5) -> Space:
    """Factors over most pairs of variables of up to four labels, in any order, and no rules."""
    builder = SpaceBuilder()
    variables = _variables(draw, builder, 2, most)
    pairs = list(itertools.combinations(variables, 2))
    left_out = draw(st.sets(st.integers(0, len(pairs) - 1), max_size=len(pairs) // 2))
    for k, pair in enumerate(pairs):
        if k not in left_out:
            builder.factor(*(pair if draw(st.booleans()) else pair[::-1]))
    return builder.build()


@st.composite
def extraction_spaces(draw) -> Space:
    """Candidates that exclude each other, and relations that need both ends, one per first end."""
    builder = SpaceBuilder()
    n = draw(st.integers(2, 4))
    ends = [builder.variable(f"e{i}", ["no", "yes"]) for i in range(n)]
    pairs = [_some(draw, ends, 2) for _ in range(draw(st.integers(1, 4)))]
    for i, pair in enumerate(pairs):
        relation = builder.variable(f"r{i}", ["no", "yes"])
        builder.require(relation["yes"] >> all_of(end["yes"] for end in pair))
    relations = builder.build().variables[n:]
    builder.require(at_most(1, [end["yes"] for end in _some(draw, ends, 3)]))
    builder.require(at_most(1, [relation["yes"] for relation in _some(draw, relations, 4)]))
    return builder.build()


FAMILIES = {
    "any": spaces(),
    "separable": separable_spaces(),
    "chain": chain_spaces(),
    "tree": tree_spaces(),
}


# -- what engines are asked ---------------------------------------------------------------


@st.composite
def problems_of(draw, space: Space, inputs: int = 2) -> Problem:
    """Real scores, whole ones with many ties, or nearly equal ones; sometimes labels closed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = _pick(draw, ["real", "whole", "real", "whole", "near", "large", "zero"])
    scores = rng.normal(size=(inputs, space.parts))
    if kind == "whole":
        scores = rng.integers(-1, 2, size=scores.shape).astype(np.float64)
    elif kind == "near":  # three steps are less than a tie, four are more
        scores = 3e-11 * rng.integers(0, 3, size=scores.shape)
    elif kind == "large":
        scores *= 1e6
    elif kind == "zero":
        scores *= 0.0
    if draw(st.booleans()):
        return Problem(space, scores)
    closed = rng.random((inputs, space.labels)) >= _pick(draw, [0.7, 0.95])
    return Problem(space, scores, closed)


@st.composite
def problems_with_equal_tables(draw, space: Space) -> Problem:
    """One to six inputs, some of which have the same factor scores, or all scores."""
    problem = draw(problems_of(space, draw(st.integers(1, 6))))
    scores = problem.scores.copy()
    of = [draw(st.integers(0, _pick(draw, [0, 0, i]))) for i in range(len(scores))]
    if draw(st.booleans()):
        scores[:, : space.labels] *= 10.0 ** draw(st.integers(-3, 3))
    scores[:, space.labels :] = scores[of, space.labels :]
    if draw(st.booleans()):
        scores[-1] = scores[0]
    return Problem(space, scores, problem.closed)


@st.composite
def problems(draw, of=None, inputs: int = 2) -> tuple[Space, Problem]:
    """A space (any, unless ``of`` says which) and a problem of a few inputs."""
    space = draw(spaces() if of is None else of)
    return space, draw(problems_of(space, inputs))


def row_of(problem: Problem, i: int):
    """The scores of input i, and the labels allowed to it (None for all)."""
    return problem.scores[i], None if problem.closed is None else ~problem.closed[i]


# -- soft rules ---------------------------------------------------------------------------


class Softened(NamedTuple):
    """A space with soft rules, the same without them, and what each costs that is broken."""

    space: Space
    hard: Space
    soft: list[tuple[object, float]]

    def cost(self, labels) -> float:
        return sum(weight for rule, weight in self.soft if not holds(rule, labels))


@st.composite
def soft_spaces(draw, most: int = 4, variables_alone: bool = True) -> Softened:
    """A space with one to three soft rules of any kind: factors, or in some variables alone."""
    builder = SpaceBuilder()
    variables = _variables(draw, builder, 1, most, labels=3)
    if len(variables) > 1:
        _join(builder, [_some(draw, variables, 3) for _ in range(draw(st.integers(0, 2)))])
    for k in range(draw(st.integers(0, 2))):
        builder.require(_rule(draw, variables, 2), f"rule {k}")
    hard, soft = builder.build(), []
    for k in range(draw(st.integers(1, 3))):
        rule, weight = _rule(draw, variables, 2), _pick(draw, [0.0, 0.5, 0.5, 1.0, 2.25])
        builder.prefer(rule, weight, f"soft {k}")
        soft.append((rule, weight))
    fewest = draw(st.sampled_from([0] * variables_alone + [builder_module.FEW_TUPLES]))
    with mock.patch.multiple(builder_module, FEW_PAIRS=fewest, FEW_TUPLES=fewest):
        return Softened(builder.build(), hard, soft)
