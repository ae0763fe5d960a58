"""The CFN format: cost functions in a relaxed JSON, to minimise or to maximise.

    { "problem": { "name": "p", "mustbe": "<10.00" },
      "variables": { "x": ["a", "b"], "y": 3 },
      "functions": { "f": { "scope": ["x", "y"], "costs": [1, 2, 3, 4.5, 5, 6] },
                     "g": { "scope": ["y"], "defaultcost": 0, "costs": [2, 1.5] } } }

Fields come in this order. Quotes, commas and colons may be left out, {} and []
stand for each other, quotes may be put around numbers, and a line that starts with
# is a comment. Without the word "problem" at the start, no field is named:
``{{p <10.00} {x [a b] y 3} {f {[x y] [1 2 3 4.5 5 6]} {[y] 0 [2 1.5]}}}``.

"<10.00" minimises, and a total of 10 or more is no answer; ">10.00" maximises, and
one of 10 or less is none. Costs are taken as written; the number of decimals of the
bound, to which some solvers cut every cost, does not matter here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, prod
from pathlib import Path
from typing import TypeAlias

import numpy as np

from rote.errors import DataError
from rote.io.networks.table import (
    MAX_LABELS,
    ROUNDING,
    CostNetwork,
    Measure,
    check_scope,
    check_shape,
    cost_network,
    numbered,
    sparse_table,
)
from rote.io.text import Words, read_text
from rote.types import FloatArray

WORD = re.compile(r'"[^"\n]*"|[\[\]{}"]|[^\s,:\[\]{}"]+')
COMMENT = re.compile(r"^#.*$", re.MULTILINE)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")
NUMERIC = tuple("0123456789-.+")  # what no name starts with
OPEN, CLOSE = ("{", "["), ("}", "]")

# Where each label of a variable stands, by the variable's name.
Domains: TypeAlias = dict[str, dict[str, int]]


def read_cfn(path: str | Path, text: str | None = None) -> CostNetwork:
    """The network of a CFN file, which may be compressed."""
    path = Path(path)
    # A comment's line stays, empty, so that lines are counted right.
    reader = _Reader(path, COMMENT.sub("", read_text(path) if text is None else text))
    reader.open("the file")
    reader.tagged = reader.next_is("problem")
    measure, top = _read_problem(reader)
    domains = _read_variables(reader)
    functions = _read_functions(reader, domains)
    # The last bracket may be missing: files of the format's own authors lack it.
    if reader.left:
        reader.close("the file")
    reader.end()
    return cost_network(
        path,
        list(domains),
        [tuple(labels) for labels in domains.values()],
        [function.scope for function in functions],
        _with_shared(reader, functions),
        [function.name for function in functions],
        top,
        measure,
        ROUNDING,
    )


class _Reader(Words):
    """Words, the brackets between them, and the names of fields where the file has them."""

    tagged = True

    def __init__(self, path: Path, text: str) -> None:
        super().__init__(path, text, WORD)

    def tag(self, name: str) -> None:
        if self.tagged and (word := self.string(f"the field {name!r}")) != name:
            raise self.error(f"expected the field {name!r}, got {word!r}")

    def open(self, what: str) -> None:
        self.bracket(OPEN, f"a bracket that opens {what}")

    def close(self, what: str) -> None:
        self.bracket(CLOSE, f"a bracket that closes {what}")

    def bracket(self, known: tuple[str, ...], what: str) -> None:
        if (word := self.take(what)) not in known:
            raise self.error(f"expected {what}, got {word!r}")

    def opens(self) -> bool:
        return self.peek() in OPEN

    def until_closed(self) -> Iterator[None]:
        """One round for each thing before the bracket that closes their list."""
        while self.peek() not in CLOSE:
            yield

    def items(self, what: str) -> Iterator[None]:
        """One round for each thing between the brackets of a list."""
        self.open(what)
        yield from self.until_closed()
        self.close(what)

    def next_is(self, name: str) -> bool:
        return self.peek().strip('"') == name

    def starts_number(self) -> bool:
        return self.peek().lstrip('"').startswith(NUMERIC)

    def string(self, what: str) -> str:
        word = self.take(what)
        if word == '"':
            raise self.error(f"expected {what}, got a quote that is not closed on its line")
        if word in OPEN or word in CLOSE or word == '""':
            raise self.error(f"expected {what}, got {word!r}")
        return word.strip('"')

    def name(self, what: str) -> str:
        word = self.string(what)
        if word.startswith(NUMERIC):
            raise self.error(
                f"expected {what}, which does not start as a number does, got {word!r}"
            )
        return word

    def decimal(self, what: str) -> float:
        word = self.string(what)
        if not NUMBER.fullmatch(word):
            raise self.error(f"expected {what}, an integer or a decimal, got {word!r}")
        if not isfinite(value := float(word)):
            raise self.error(f"expected {what}, one that fits into 64 bits, got {word!r:.80}")
        return value

    def decimals(self, count: int, what: str) -> FloatArray:
        words = self.peek_many(count)
        if len(words) == count and all(map(NUMBER.fullmatch, words)):
            return self.numbers(count, what)
        # Some have quotes, or one is wrong and should be named.
        return np.array([self.decimal(what) for _ in range(count)])

    def position(self, what: str, known: Mapping[str, int]) -> int:
        """Where a name stands among those known; an index will do as well."""
        word = self.string(f"{what} or its index")
        if word in known:
            return known[word]
        if word.isdecimal() and int(word) < len(known):
            return int(word)
        some = ", ".join(list(known)[:10])
        raise self.error(f"expected {what} or its index, got {word!r}; there are {some}")


@dataclass(frozen=True, eq=False)
class _Function:
    name: str
    scope: tuple[int, ...]
    shape: tuple[int, ...]
    costs: FloatArray | None  # None: those of the function called ``like``
    like: str = ""
    taken: int = 0  # where the file says so


def _read_problem(reader: _Reader) -> tuple[Measure, float]:
    reader.tag("problem")
    reader.open("the problem")
    reader.tag("name")
    reader.string("the name of the problem")
    reader.tag("mustbe")
    bound = reader.string("a bound such as <10.0")
    if bound[0] not in "<>" or not NUMBER.fullmatch(bound[1:]):
        raise reader.error(
            f"expected a bound such as <10.0 (minimise) or >10.0 (maximise), got {bound!r}"
        )
    if not isfinite(top := float(bound[1:])):
        raise reader.error(f"expected a bound that fits into 64 bits, got {bound!r:.80}")
    reader.close("the problem")
    return (Measure.COST if bound[0] == "<" else Measure.GAIN), top


def _read_variables(reader: _Reader) -> Domains:
    domains: Domains = {}
    reader.tag("variables")
    for _ in reader.items("the variables"):
        unnamed = reader.opens() or reader.starts_number()
        name = f"x{len(domains)}" if unnamed else reader.name("the name of a variable")
        if name in domains:
            raise reader.error(f"two variables are called {name!r}")
        labels = _read_labels(reader, name) if reader.opens() else _count_labels(reader, name)
        domains[name] = {label: a for a, label in enumerate(labels)}
    return domains


def _read_labels(reader: _Reader, variable: str) -> list[str]:
    labels: dict[str, None] = {}
    for _ in reader.items("the labels"):
        label = reader.name("a label")
        if label in labels:
            raise reader.error(f"variable {variable!r} has the label {label!r} twice")
        labels[label] = None
    if not labels:
        raise reader.error(f"variable {variable!r} has no labels")
    return list(labels)


def _count_labels(reader: _Reader, variable: str) -> tuple[str, ...]:
    word = reader.string(f"the labels of {variable!r}, or how many there are")
    if word.startswith("-"):
        raise reader.error(f"variable {variable!r} is an interval (a negative size), not read here")
    if not word.isdecimal() or int(word) < 1:
        raise reader.error(f"variable {variable!r} has one label or more, got {word!r}")
    if int(word) > MAX_LABELS:
        raise reader.error(f"variable {variable!r} has {MAX_LABELS} labels at most, got {word}")
    return numbered(int(word))


def _read_functions(reader: _Reader, domains: Domains) -> list[_Function]:
    places = {name: j for j, name in enumerate(domains)}
    labels = list(domains.values())
    reader.tag("functions")
    return [_read_function(reader, places, labels) for _ in reader.items("the functions")]


def _read_function(
    reader: _Reader, places: Mapping[str, int], labels: Sequence[Mapping[str, int]]
) -> _Function:
    name = "" if reader.opens() else reader.string("the name of a function")
    reader.open("the function")
    reader.tag("scope")
    scope = check_scope(
        reader, [reader.position("a variable", places) for _ in reader.items("the scope")]
    )
    shape = tuple(len(labels[j]) for j in scope)
    names = list(places)
    name = f"the function {name or 'over ' + ', '.join(names[j] for j in scope)}"

    sparse = reader.next_is("defaultcost") if reader.tagged else reader.starts_number()
    default = 0.0
    if sparse:
        reader.tag("defaultcost")
        default = reader.decimal("a default cost")
    if reader.tagged and reader.peek().strip('":') == "type":
        reader.take("type")
        raise _not_read(reader, f"{name}, {reader.string('the kind of a function')!r},")
    check_shape(reader, shape)
    reader.tag("costs")
    if not reader.opens():
        like = reader.string("a list of costs, or a function that has the same ones")
        if reader.opens():
            raise _not_read(reader, name)
        taken = reader.taken
        reader.close(name)
        return _Function(name, scope, shape, None, f"the function {like}", taken)
    reader.open("the costs")
    if sparse:
        costs = _read_tuples(reader, [labels[j] for j in scope], default)
    else:
        entries = prod(shape)
        costs = reader.decimals(entries, f"one of the {entries} costs of {name}").reshape(shape)
    reader.close(f"the costs of {name}")
    reader.close(name)
    return _Function(name, scope, shape, costs)


def _read_tuples(
    reader: _Reader, labels: Sequence[Mapping[str, int]], default: float
) -> FloatArray:
    tuples, costs = [], []
    for _ in reader.until_closed():
        tuples.append([reader.position("a label", own) for own in labels])
        costs.append(reader.decimal("the cost of a tuple"))
    rows = np.array(tuples, dtype=np.int64).reshape(len(tuples), len(labels))
    shape = tuple(len(own) for own in labels)
    return sparse_table(reader, shape, default, rows, np.array(costs))


def _not_read(reader: _Reader, name: str) -> DataError:
    return reader.error(f"{name} is given by a formula; only functions with a table are read")


def _with_shared(reader: _Reader, functions: Sequence[_Function]) -> list[FloatArray]:
    """The costs of every function; one that shares another's has them over its own scope."""
    tables = []
    for function in functions:
        costs = function.costs
        if costs is None:
            known = (f.costs for f in functions if f.name == function.like)
            costs = next((c for c in known if c is not None and c.shape == function.shape), None)
        if costs is None:
            raise reader.error(
                f"{function.name} has the costs of {function.like}, and the file has no such "
                f"function over variables with {list(function.shape)} labels",
                back=reader.taken - function.taken + 1,
            )
        tables.append(costs)
    return tables
