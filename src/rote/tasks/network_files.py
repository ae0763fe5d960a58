"""Networks from files as spaces and scores, and files to answers.

The value of an output is ``constant`` plus its score, so that it is the file's own
number. Tables over the same variables are added up into one factor, those over one
variable into the scores of its labels, and one that is the same everywhere into the
constant. What a table forbids becomes a rule that bears the table's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from time import perf_counter
from types import MappingProxyType

import numpy as np

from rote.errors import InfeasibleSpace, SettingError
from rote.inference.engine import Engine
from rote.inference.exact.exact import Exact
from rote.inference.solutions import FoundBy, Status
from rote.io.networks import CostNetwork, Measure, read_network
from rote.space import Space, SpaceBuilder, Variable
from rote.space.language import Tuples
from rote.space.network import spread
from rote.types import BoolArray, FloatArray, readonly


@dataclass(frozen=True, eq=False)
class NetworkProblem:
    """A network as an engine takes it."""

    space: Space
    scores: FloatArray  # (parts,)
    constant: float  # value = constant + score


@dataclass(frozen=True)
class FileAnswer:
    """The best output of a file that was found, and what is known of it."""

    labels: Mapping[str, str]  # empty when a limit was hit before anything was found
    value: float  # log-probability, minus the cost, or the gain
    bound: float  # no output has a value above this
    cost: float | None  # the total of the file's own costs; None for probabilities
    status: Status
    source: FoundBy
    seconds: float  # reading and solving


def network_problem(network: CostNetwork) -> NetworkProblem:
    """The space and the scores of a network."""
    builder = SpaceBuilder()
    variables = [
        builder.variable(name, labels)
        for name, labels in zip(network.names, network.labels, strict=True)
    ]
    constant = network.constant
    unary = [np.zeros(len(labels)) for labels in network.labels]
    factors = []
    for scope, table, allowed in _added_up(network):
        if not allowed.any() or np.ptp(table[allowed]) == 0:
            constant += float(table[allowed][0]) if allowed.any() else 0.0
        elif len(scope) == 1:
            unary[scope[0]] += table
        else:
            builder.factor(*(variables[j] for j in scope))
            factors.append(table.ravel())
    for t, allowed in enumerate(network.allowed):
        if not allowed.all():
            # A table over no variable that forbids its one entry leaves no label to any variable.
            over = [variables[j] for j in network.scopes[t]] or variables[:1]
            builder.require(_allows(over, allowed), _says(network, t))
    scores = np.concatenate([*unary, *factors]) if variables else np.zeros(0)
    return NetworkProblem(builder.build(), readonly(scores), constant)


def solve_file(
    path: str | Path,
    engine: Engine | None = None,
    time_limit: float | None = None,
    evidence: str | Path | None = None,
) -> FileAnswer:
    """The best output of a .uai, .wcsp or .cfn file.

    ``time_limit`` in seconds is for the default engine; an engine of your own has its
    own limits. ``evidence`` belongs to .uai files.
    """
    if engine is not None and time_limit is not None:
        raise SettingError("time_limit is for the default engine; give it to your engine instead")
    start = perf_counter()
    network = read_network(path, evidence)
    problem = network_problem(network)
    solver = Exact(time_limit=time_limit) if engine is None else engine
    found = solver.solve(problem.space, problem.scores)
    value, bound = (float(each[0]) + problem.constant for each in (found.value, found.bound))
    status = Status(int(found.status[0]))
    if status is not Status.INFEASIBLE and bound <= network.floor:
        raise InfeasibleSpace([_limit(network, bound)])
    if status is Status.FEASIBLE and value <= network.floor:
        # Something better may exist, but what was found is no answer to this file.
        status, value = Status.TIMED_OUT, -inf
    answered = status in (Status.OPTIMAL, Status.FEASIBLE)
    labels = problem.space.decode(found.labels)[0] if answered else {}
    return FileAnswer(
        MappingProxyType(labels),
        value,
        bound,
        network.cost(value),
        status,
        FoundBy(int(found.source[0])),
        perf_counter() - start,
    )


def _added_up(network: CostNetwork) -> list[tuple[tuple[int, ...], FloatArray, BoolArray]]:
    """One table and mask for each set of variables, over the scope that came first."""
    found: dict[frozenset[int], tuple[tuple[int, ...], FloatArray, BoolArray]] = {}
    for scope, table, allowed in zip(network.scopes, network.tables, network.allowed, strict=True):
        key = frozenset(scope)
        if key in found:
            first, total, mask = found[key]
            added = total + spread(table, scope, first), mask & spread(allowed, scope, first)
            found[key] = first, *added
        else:
            found[key] = scope, table, allowed
    return list(found.values())


def _allows(over: list[Variable], allowed: BoolArray) -> Tuples:
    # As one_of, whose look-up of labels by name is felt in files with many large tables.
    return Tuples(tuple(over), frozenset(map(tuple, np.argwhere(allowed).tolist())))


def _says(network: CostNetwork, t: int) -> str:
    names = ", ".join(network.names[j] for j in network.scopes[t])
    allowed = network.allowed[t]
    count = f"{int((~allowed).sum())} of {allowed.size} labellings of {names}"
    what = count if network.scopes[t] else "every output"
    return f"{network.table_names[t]} of {network.source} forbids {what}"


def _limit(network: CostNetwork, bound: float) -> str:
    cost, limit = network.cost(bound), network.cost(network.floor)
    side, least = ("above", "most") if network.measure is Measure.GAIN else ("below", "least")
    return (
        f"the total cost stays {side} {limit:g}, the bound at the start of {network.source}; "
        f"the {least} possible is {cost:g}"
    )
