"""A `Space` is a structured output space: the feasible outputs and their parts, without scores.

Parts, in order: every label of every variable, then every label tuple of every
factor (last variable fastest). A vector of part scores is all an engine needs
besides the space. A space is frozen; what engines need of it is worked out when
first asked for (`Space.once`), and kept as long as the space.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, TypeVar, TypeVarTuple

import numpy as np

from rote.errors import LabelError, ScoreError, locate
from rote.kernels.bundles import Layout, RuleTrees
from rote.kernels.outputs import all_obey, first_that_breaks, parts_of, values_of
from rote.space.compiled import Forms, forms_of
from rote.space.language import LinearRows, Rule, Variable
from rote.space.lowering import Rows, lower, stacked
from rote.space.network import Network, build_network, holds_everywhere, split
from rote.space.rule_trees import rule_trees
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, offsets_from_counts, readonly

FINGERPRINT_VERSION = 1
BYTES_OF_VARIABLE = 50  # or factor: what a space holds for one besides its compiled forms
BYTES_OF_RULE = 1000

Form = TypeVar("Form")
More = TypeVarTuple("More")


@dataclass(frozen=True)
class Factor:
    """Scores for every joint labelling of a few variables.

    Parameters
    ----------
    name
        What it is called in messages and pictures.
    variables
        The positions of its variables in the space; labels of the last change fastest.
    """

    name: str
    variables: tuple[int, ...]


@dataclass(frozen=True)
class NamedRule:
    """A rule, and the name that it was given or None."""

    given: str | None
    rule: Rule

    @property
    def name(self) -> str:
        """What errors call it: the name that it was given, or its text."""
        return self.given or str(self.rule)

    @property
    def each(self) -> Iterator[NamedRule]:
        """The rule, or the rows of a table of rows, each named by its number."""
        if not isinstance(self.rule, LinearRows):
            yield self
            return
        for r, rule in zip(self.rule.numbers, self.rule.each, strict=True):
            yield NamedRule(self.given and f"{self.given}, row {r}: {rule}", rule)


@dataclass(frozen=True)
class SoftRule:
    """A rule that outputs may break at a cost: a part of the output that is kept or broken.

    Parameters
    ----------
    name
        What it is called; a learned cost is shared by the rules of one name.
    rule
        What is better kept.
    weight
        What breaking it costs; None where that is learned.
    slot
        Where it is scored: the number of a variable that says kept or broken, or, counted after
        all variables, of a factor.
    """

    name: str
    rule: Rule
    weight: float | None
    slot: int

    @property
    def block(self) -> str:
        """The name of its weights in a model, one for kept and one for broken."""
        return f"rule {self.name}"

    @property
    def cost(self) -> str:
        """What is said where it is broken."""
        cost = "what was learned" if self.weight is None else f"{self.weight:g}"
        return f"{self.name}: broken, costs {cost}"


@dataclass(frozen=True, eq=False)
class Space:
    """Variables, factors over them, and the rules every output obeys.

    Build one with `SpaceBuilder`. Spaces are equal when their fingerprints are.

    Parameters
    ----------
    variables
        What is decided, in the order of its labels' scores.
    factors
        Which variables have scores for their joint labellings, in the order of these scores.
    rules
        The constraints, each with the name under which errors speak of it.
    soft
        The rules that outputs may break at a cost. Their variables and factors come last among
        those above, and so do the rules that say what such a variable means.
    """

    variables: tuple[Variable, ...]
    factors: tuple[Factor, ...] = ()
    rules: tuple[NamedRule, ...] = ()
    soft: tuple[SoftRule, ...] = ()

    def __repr__(self) -> str:
        return (
            f"Space({len(self.variables)} variables, {len(self.factors)} factors, "
            f"{len(self.rules)} rules, {self.parts} parts"
            + (f", {len(self.soft)} soft rules)" if self.soft else ")")
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[type[Space], tuple[object, ...]]:
        # Compiled forms stay behind.
        return Space, (self.variables, self.factors, self.rules, self.soft)

    # -- files ------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON has it, names included; `from_json` reads it.

        >>> from rote import SpaceBuilder
        >>> builder = SpaceBuilder()
        >>> x = builder.variable("x", "ab")
        >>> builder.require(~x["a"], "no a")
        >>> builder.build().to_json()["rules"]
        [{'name': 'no a', 'rule': ['not', ['is', 0, 0]]}]
        """
        from rote.space.description import described

        return described(self)

    @staticmethod
    def from_json(description: Mapping[str, Any]) -> Space:
        """The space that `to_json` described; `SpaceError` says what is wrong with another one."""
        from rote.space.description import restored

        return restored(description)

    # -- compiled forms ---------------------------------------------------------------

    def once(self, build: Callable[[Space, *More], Form], *args: *More) -> Form:
        """What ``build(space, *args)`` returns: built at the first call, freed with the space.

        Equal spaces share it, so it may hold no names. ``build`` is a function of a module, and
        ``args`` are hashable.
        """
        return self.forms.get(build, self, *args)  # type: ignore[no-any-return]

    @cached_property
    def forms(self) -> Forms:
        """What was compiled so far of this space and its equals."""
        size = BYTES_OF_VARIABLE * (len(self.variables) + len(self.factors))
        return forms_of(self.fingerprint, size + BYTES_OF_RULE * len(self.rules))

    @property
    def is_compiled(self) -> bool:
        """Whether something was compiled of it."""
        return "forms" in vars(self)

    def is_new(self) -> bool:
        """Whether nothing was compiled of it, and nobody asked this before."""
        if self.is_compiled or "_seen" in vars(self):
            return False
        vars(self)["_seen"] = True
        return True

    @cached_property
    def each_rule(self) -> tuple[NamedRule, ...]:
        """The rules, of tables of rows each row by itself."""
        return tuple(each for named in self.rules for each in named.each)

    def without_rules(self) -> Space:
        """The same variables and factors without the rules."""
        return self._free if self.required else self

    def with_rules(self, kept: Collection[int]) -> Space:
        """The same variables and factors with some of the rules, by their number in `required`."""
        rules = []
        required = self.rules[: self._required_count]
        for named, (numbers, rule) in zip(required, self._numbered(), strict=True):
            own = [number in kept for number in numbers]
            if all(own):
                rules.append(named)
            elif any(own):
                assert isinstance(rule, LinearRows)
                some = rule.some(np.array(rule.numbers)[own])
                rules.append(NamedRule(named.given, some))
        if not rules:
            return self.without_rules()
        meaning = self.rules[self._required_count :]
        return Space(self.variables, self.factors, (*rules, *meaning), self.soft)

    @cached_property
    def _free(self) -> Space:  # it has names, which equal spaces do not share
        return Space(self.variables, self.factors, self.rules[self._required_count :], self.soft)

    # -- soft rules -------------------------------------------------------------------

    @cached_property
    def own(self) -> int:
        """How many variables outputs have; those of soft rules come behind."""
        return len(self.variables) - sum(s.slot < len(self.variables) for s in self.soft)

    @property
    def own_factors(self) -> tuple[Factor, ...]:
        """The factors that are no soft rules."""
        n = len(self.variables)
        return self.factors[: len(self.factors) - sum(s.slot >= n for s in self.soft)]

    @cached_property
    def required(self) -> tuple[NamedRule, ...]:
        """The rules that every output obeys; what else there is says what soft rules mean."""
        return tuple(each for named in self.rules[: self._required_count] for each in named.each)

    @property
    def _required_count(self) -> int:
        return len(self.rules) - len(self.variables) + self.own

    def breaks(self, soft: SoftRule) -> BoolArray:
        """For each part of a soft rule, whether it says that the rule is broken."""
        if soft.slot < len(self.variables):
            return np.array([False, True])
        scope = self.factors[soft.slot - len(self.variables)].variables
        return ~holds_everywhere(soft.rule, scope, tuple(self.sizes[list(scope)])).ravel()

    @cached_property
    def penalties(self) -> FloatArray:
        """What soft rules of given weights add to the scores of all parts."""
        found = np.zeros(self.parts)
        for soft in self.soft:
            if soft.weight is not None:
                found[slice(*self.starts[soft.slot : soft.slot + 2])] -= soft.weight * self.breaks(
                    soft
                )
        return readonly(found)

    def penalized(self, scores: FloatArray) -> FloatArray:
        """Scores as people give them, of shape (m, parts), with what broken soft rules cost.

        The parts of soft rules may be left out.
        """
        if not self.soft:
            return scores
        if scores.shape[1] == self._own_parts.sum():
            narrow, scores = scores, np.zeros((len(scores), self.parts))
            scores[:, self._own_parts] = narrow
        return scores + self.penalties if scores.shape[1] == self.parts else scores

    @cached_property
    def _own_parts(self) -> BoolArray:
        """Which parts are not those of soft rules."""
        own = np.ones(self.parts, np.bool_)
        for soft in self.soft:
            own[slice(*self.starts[soft.slot : soft.slot + 2])] = False
        return own

    def broken_soft(self, labels: AnyArray) -> tuple[SoftRule, ...]:
        """The soft rules that one output breaks."""
        columns = dict(enumerate(self.as_labels(labels).T))
        return tuple(soft for soft in self.soft if not soft.rule.holds(columns).all())

    # -- shape ------------------------------------------------------------------------

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Those of the variables."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def sizes(self) -> IntArray:
        """How many labels each variable has."""
        return readonly(np.array([len(v.labels) for v in self.variables], dtype=np.int64))

    @cached_property
    def offsets(self) -> IntArray:
        """Where each variable's labels start among the parts; one more entry ends the last."""
        return readonly(self.starts[: len(self.variables) + 1])

    @cached_property
    def factor_offsets(self) -> IntArray:
        """Where each factor's label tuples start among the parts; one more entry ends the last."""
        return readonly(self.starts[len(self.variables) :])

    @cached_property
    def starts(self) -> IntArray:
        """The first part of each variable and then of each factor; one more entry ends the last."""
        sizes: list[int] = self.sizes.tolist()
        tuples = [prod([sizes[j] for j in factor.variables]) for factor in self.factors]
        return readonly(offsets_from_counts([*sizes, *tuples]))

    @cached_property
    def labels(self) -> int:
        """How many parts are labels; the rest are label tuples of factors."""
        return int(self.offsets[-1])

    @cached_property
    def parts(self) -> int:
        """How many parts there are: the length of a score vector."""
        return int(self.factor_offsets[-1])

    @cached_property
    def slot_ends(self) -> IntArray:
        """For each variable and then each factor, the last variable it speaks of."""
        last = [max(factor.variables) for factor in self.factors]
        return readonly(np.array([*range(len(self.variables)), *last], dtype=np.int64))

    @cached_property
    def outputs(self) -> float:
        """How many joint labellings there are, allowed or not (as a float: it may be huge)."""
        with np.errstate(over="ignore"):
            return float(np.prod(self.sizes.astype(np.float64)))

    @property
    def label_names(self) -> list[str]:
        """The name of each label of each variable."""
        return [label for variable in self.variables for label in variable.labels]

    @cached_property
    def states(self) -> IntArray:
        """For each label of each variable a number; the same for labels of the same name."""
        numbers = {name: k for k, name in enumerate(dict.fromkeys(self.label_names))}
        return readonly(np.array([numbers[name] for name in self.label_names], dtype=np.int64))

    # -- meaning ----------------------------------------------------------------------

    @property
    def rows(self) -> Rows:
        """All rules as linear rows; those of `network` come last."""
        return self.once(_rows)

    @property
    def network(self) -> Network:
        """The space as tables and rows, for engines that work on arrays."""
        return self.once(_network)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the feasible set and of the order of its parts and rules.

        The same in every process and on every machine. Names of variables,
        factors and rules do not enter: two sentences whose entities are called
        differently have the same feasible set.
        """
        import hashlib
        import json

        here = {v.index: v.index for v in self.variables}
        shape = {
            "version": FINGERPRINT_VERSION,
            "labels": [v.labels for v in self.variables],
            "factors": [f.variables for f in self.factors],
            "rules": [named.rule.form(here) for named in self.rules],
        }
        if self.soft:
            shape["soft"] = [(s.rule.form(here), s.weight, s.slot) for s in self.soft]
        text = json.dumps(shape, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def holds(self, labels: AnyArray) -> BoolArray:
        """Which outputs of a batch of shape (m, variables) obey every rule."""
        batch = self.as_labels(labels)
        columns = dict(enumerate(batch.T))
        result = np.ones(len(batch), dtype=np.bool_)
        for named in self.rules:
            result &= named.rule.holds(columns)
        return result

    def obeys(self, labels: IntArray) -> bool:
        """Whether all of some outputs obey the rules as they were written; labels of -1 do."""
        trees, left = self.once(_trees) if "forms" in vars(self) else _trees(self)
        if first_that_breaks(labels, trees, 0) < len(labels):
            return False
        there = labels[(labels >= 0).all(axis=1)] if len(left) else labels[:0]
        rules = [self.rules[number].rule for number in left.tolist() if len(there)]
        return all(rule.holds(dict(enumerate(there.T))).all() for rule in rules)

    def broken(self, labels: AnyArray) -> tuple[NamedRule, ...]:
        """The rules that one output breaks."""
        batch = self.as_labels(labels)
        if len(batch) != 1:
            raise LabelError(f"broken looks at one output, got {len(batch)}; index the batch first")
        (numbers,) = self.broken_by(batch)
        return tuple(self.required[k] for k in sorted(numbers))

    def broken_by(
        self, labels: IntArray, obeyed: Collection[int] = frozenset()
    ) -> list[frozenset[int]]:
        """What each output of a batch breaks, by its number in `required`.

        What is known to be ``obeyed`` need not be looked at.
        """
        columns = dict(enumerate(labels.T))
        broken: list[set[int]] = [set() for _ in labels]
        for numbers, rule in self._numbered():
            if all(number in obeyed for number in numbers):
                continue
            if isinstance(rule, LinearRows):
                holds = np.concatenate([*rule.each_holds(columns, len(labels))])[rule.numbers]
            else:
                holds = rule.holds(columns)[None]
            for row, output in np.argwhere(~holds).tolist():
                broken[output].add(numbers[row])
        return [frozenset(numbers) for numbers in broken]

    def _numbered(self) -> Iterator[tuple[range, Rule]]:
        """The required rules, with the numbers in `required` of what they are made of."""
        first = 0
        for named in self.rules[: self._required_count]:
            rule = named.rule
            count = len(rule.numbers) if isinstance(rule, LinearRows) else 1
            yield range(first, first + count), rule
            first += count

    def value(self, scores: AnyArray, labels: AnyArray) -> FloatArray:
        """The total score of each output of a batch, under its own row of scores or one for all."""
        batch = self.as_labels(labels)
        table = self.penalized(np.atleast_2d(np.asarray(scores, dtype=np.float64)))
        if table.shape[0] == 1:
            table = np.broadcast_to(table, (len(batch), table.shape[1]))
        if table.shape != (len(batch), self.parts):
            raise ScoreError(
                f"scores of {len(batch)} outputs have the shape ({len(batch)}, {self.parts}), "
                f"or ({self.parts},) for all of them; got {np.shape(scores)}"
            )
        return self.known_value(table, batch)

    def known_value(self, scores: FloatArray, labels: IntArray) -> FloatArray:
        """What `value` does, for a batch that is known to be right; -inf where labels are -1."""
        return values_of(np.ascontiguousarray(scores), np.ascontiguousarray(labels), self.layout)

    def parts_of(self, labels: AnyArray) -> IntArray:
        """The parts of each output: one per variable, then one per factor."""
        return self.known_parts_of(self.as_labels(labels))

    def known_parts_of(self, labels: IntArray) -> IntArray:
        """What `parts_of` does, for a batch that is known to be right."""
        return parts_of(np.ascontiguousarray(labels), self.layout)

    @cached_property
    def layout(self) -> Layout:
        """Where its parts are, for kernels."""
        return Layout(self.sizes, self.offsets, self.scope_ptr, self.scope, self.factor_offsets)

    @cached_property
    def scope_ptr(self) -> IntArray:
        return readonly(offsets_from_counts([len(f.variables) for f in self.factors]))

    @cached_property
    def scope(self) -> IntArray:
        return readonly(np.array([j for f in self.factors for j in f.variables], np.int64))

    def satisfied(self, labels: AnyArray) -> BoolArray:
        """The same answer as `holds`, from the compiled tables and rows: for large batches."""
        return self.was_feasible(self.as_labels(labels))

    def was_feasible(self, labels: IntArray) -> BoolArray:
        """What `satisfied` does, for a batch that is known to be right."""
        network = self.network
        if network.variables > network.own:
            return self.holds(labels)
        return all_obey(readonly(labels), network.masks, network.graph.rows)

    # -- names ------------------------------------------------------------------------

    @cached_property
    def _index(self) -> Mapping[str, int]:
        return {v.name: v.index for v in self.variables}

    def __getitem__(self, name: str) -> Variable:
        """The variable of this name."""
        try:
            return self.variables[self._index[name]]
        except KeyError:
            some = ", ".join(repr(v.name) for v in self.variables[:10])
            raise LabelError(f"no variable is called {name!r}; there are {some}") from None

    def part(self, variables: str | Sequence[str], labels: str | Sequence[str]) -> int:
        """Where the score of a label, or of a factor's label tuple, stands.

        >>> from rote import SpaceBuilder
        >>> builder = SpaceBuilder()
        >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
        >>> _ = builder.factor(x, y)
        >>> space = builder.build()
        >>> space.part("y", "b"), space.part(["x", "y"], ["b", "a"])
        (3, 6)
        """
        if isinstance(variables, str):
            variable = self[variables]
            return int(self.offsets[variable.index]) + variable.position(str(labels))
        chosen = tuple(self[name] for name in variables)
        if len(labels) != len(chosen):
            raise LabelError(f"{len(chosen)} variables take {len(chosen)} labels, got {labels!r}")
        scope = tuple(v.index for v in chosen)
        scopes = [factor.variables for factor in self.factors]
        if scope not in scopes:
            raise LabelError(f"no factor is over ({', '.join(variables)}) in this order")
        code = 0
        for variable, label in zip(chosen, labels, strict=True):
            code = code * len(variable.labels) + variable.position(label)
        return int(self.factor_offsets[scopes.index(scope)]) + code

    def part_name(self, part: int) -> str:
        """What a part is, in words: the other way round of `part`."""
        slot = int(np.searchsorted(self.starts, part, side="right")) - 1
        if slot < len(self.variables):
            variable = self.variables[slot]
            return f"label {variable.labels[part - int(self.starts[slot])]!r} of {variable.name!r}"
        factor = self.factors[slot - len(self.variables)]
        own = [self.variables[j].labels for j in factor.variables]
        codes = np.unravel_index(part - int(self.starts[slot]), [len(labels) for labels in own])
        labels = ", ".join(repr(each[code]) for each, code in zip(own, codes, strict=True))
        return f"labels ({labels}) of factor {factor.name!r}"

    def scores(self, by_name: Mapping[str, Mapping[str, float]] | None = None) -> FloatArray:
        """A score vector: zero but for what ``by_name[variable][label]`` says.

        Factors' scores are set by position: ``scores[space.part(names, labels)] = …``.
        """
        vector = np.zeros(self.parts)
        if by_name is not None and not isinstance(by_name, Mapping):
            raise ScoreError(
                f'scores by name are {{"variable": {{"label": score}}}}, for one input; '
                f"got {by_name!r:.80}"
            )
        for name, labels in (by_name or {}).items():
            if not isinstance(labels, Mapping):
                raise ScoreError(
                    f'the scores of variable {name!r} are {{"label": score}}, got {labels!r:.80}'
                )
            for label, score in labels.items():
                vector[self.part(name, label)] = score
        return vector

    def encode(self, outputs: Sequence[Mapping[str, str]]) -> IntArray:
        """Outputs by name to a batch of labels by position."""
        if isinstance(outputs, Mapping):
            raise LabelError(
                f"encode takes a list of outputs, got one by itself: {outputs!r:.80}; "
                "put it into a list"
            )
        own = self.variables[: self.own]
        batch = np.empty((len(outputs), len(own)), dtype=np.int64)
        for row, output in zip(batch, outputs, strict=True):
            missing = [v.name for v in own if v.name not in output]
            if missing or len(output) != len(own):
                extra = sorted(set(output) - set(self._index))
                raise LabelError(
                    f"an output names each variable once; missing {missing}, unknown {extra}"
                )
            row[:] = [v.position(output[v.name]) for v in own]
        return self.as_labels(batch)

    def decode(self, labels: AnyArray) -> list[dict[str, str]]:
        """A batch of labels by position to outputs by name."""
        none = (np.atleast_2d(labels) == -1).all(axis=1)  # how answers without output look
        if np.size(labels) and none.any():
            raise LabelError(
                f"input {int(none.argmax())} has no output: its status is INFEASIBLE or TIMED_OUT; "
                "decode only answers whose status is another"
            )
        return [
            {
                v.name: v.labels[label]
                for v, label in zip(self.variables[: self.own], row, strict=False)
            }
            for row in self.as_labels(labels).tolist()
        ]

    def as_labels(self, labels: AnyArray) -> IntArray:
        """A checked batch of shape (m, variables); columns of soft rules may be left out."""
        batch = np.asarray(labels)
        if batch.ndim == 1:
            batch = batch[None, :]
        if batch.ndim != 2 or batch.shape[1] not in (self.own, len(self.variables)):
            raise LabelError(
                f"labels have the shape (m, {self.own}), one column per variable; "
                f"got {np.shape(labels)}"
            )
        if batch.size and not np.issubdtype(batch.dtype, np.integer):
            raise LabelError(
                f"labels are whole numbers, got {batch.dtype}; use space.encode for names"
            )
        wrong = (batch < 0) | (batch >= self.sizes[: batch.shape[1]])
        if wrong.any():
            i, j = np.argwhere(wrong)[0].tolist()
            variable = self.variables[j]
            error = LabelError(
                f"a label is below 0 or beyond its variable's last label: {batch[i, j]} is no "
                f"position of {len(variable.labels)} labels, those of {variable.name!r}"
            )
            locate(error, "output", i)
            raise error
        batch = batch.astype(np.int64, copy=False)
        if batch.shape[1] == len(self.variables):
            return batch
        columns = dict(enumerate(batch.T))
        said = [~s.rule.holds(columns) for s in self.soft if s.slot < len(self.variables)]
        return np.column_stack([batch, *said]).astype(np.int64)


def _rows(space: Space) -> Rows:
    sizes = space.sizes.tolist()
    tabled, long_rules = split(space.sizes, [named.rule for named in space.each_rule])
    return stacked(lower(sizes, tabled), lower(sizes, long_rules))


def _trees(space: Space) -> tuple[RuleTrees, IntArray]:
    return rule_trees(named.rule for named in space.rules)


def _network(space: Space) -> Network:
    firsts = space.factor_offsets[:-1].tolist()
    factors = [(f.variables, at) for f, at in zip(space.factors, firsts, strict=True)]
    network = build_network(space.sizes, factors, [named.rule for named in space.each_rule])
    # A rule over a variable with one label may have widened a factor's scope and nothing else.
    same = np.array_equal(network.scope_ptr, space.scope_ptr)
    if not (network.is_plain and same and np.array_equal(network.scope, space.scope)):
        return network
    return replace(  # with arrays that are there anyway
        network,
        offsets=space.offsets,
        scope_ptr=space.scope_ptr,
        scope=space.scope,
        table_ptr=space.factor_offsets,
    )
