"""Calls of doors as rooms make them, recorded while small problems are solved."""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np

from rote import RGS, Amortized, Context, Exact, SpaceBuilder, at_most, inference, kernels
from rote.inference.exact.branch import BranchAndBound
from rote.inference.exact.lazy_rows import LazyRows
from rote.inference.exact.neighbourhoods import Climb
from rote.inference.problem import Problem
from rote.kernels.arrays import Bundle
from rote.kernels.misfits import types_of
from rote.space import Space
from tools import golden

# Groups of `tools.golden` that call nearly all doors.
EXAMPLES = (
    "amortized_relative/multilabel",
    "decomposed_sampled_pairs/bio",
    "decomposed_signed/english",
    "engine_beam_obeying_order/middle",
    "engine_exhaustive/small",
    "greedy_1.0/coreference_entities",
    "greedy_learned/multilabel",
    "max_marginals/small",
    "model_files/bio",
    "perceptron_largest/graphs",
    "predicted_milp/multilabel",
    "speedup/bio",
    "subgradient_f1_greedy/multilabel",
    "svm_l1/multiclass",
)

Door = Callable[..., Any]
Calls = dict[str, list[tuple[Any, ...]]]


def doors() -> dict[str, Door]:
    """The doors of all kernels, by module and name."""
    found = {}
    folder = Path(kernels.__file__).parent
    for header in sorted(folder.rglob("*.pxd")):
        if header.stem in ("__init__", "constants", "inlined"):
            continue
        name = ".".join(("rote.kernels", *header.relative_to(folder).with_suffix("").parts))
        for key, value in vars(importlib.import_module(name)).items():
            if getattr(value, "__wrapped__", None) and value.__module__ == name:
                found[f"{name.removeprefix('rote.kernels.')}.{key}"] = value
    return found


def fields_of(bundle: Bundle) -> dict[str, Any]:
    """What a bundle is made of, as its ``__init__`` takes it; nothing where it does not say."""
    types = types_of(type(bundle))
    is_said = all(hasattr(bundle, name) for name in types)
    return {name: getattr(bundle, name) for name in types} if is_said else {}


def copied(value: Any) -> Any:
    """The same with arrays of its own, since doors write to some."""
    if isinstance(value, np.ndarray):
        again = value.copy()
        again.flags.writeable = value.flags.writeable
        return again
    if isinstance(value, Bundle):
        return made(value)
    return copy.copy(value)


def made(bundle: Bundle, **changed: Any) -> Bundle:
    """A bundle made anew, with other values of some fields."""
    own = fields_of(bundle)
    again = {name: changed.get(name, copied(value)) for name, value in own.items()}
    return type(bundle)(**again) if own else bundle


def solve_examples() -> None:
    """Solve small problems, so that every door is called."""
    for name in EXAMPLES:
        golden.GROUPS[name].arrays()
    space, problem = golden.small()[0]
    RGS(restarts=2).solve(space, replace(problem, loss_term=golden.Parity(len(problem))), Context())
    dense = golden.joined_space(13, 2, combinations(range(13), 2))
    counted = golden.counted_space()
    once = _used_once()
    for engine, space, m in ((Exact(), dense, 3), (LazyRows(), counted, 3), (Exact(), once, 1)):
        engine.solve(space, Problem(space, np.random.default_rng(0).normal(size=(m, space.parts))))
    pairs = golden.joined_space(9, 6, combinations(range(9), 2))
    memory, asked = Amortized(Exact()), np.random.default_rng(0).normal(size=(1, pairs.parts))
    for _ in range(2):
        labels = memory.solve(pairs, asked, Context(keys=["again"])).labels
    BranchAndBound().restarted(Problem(pairs, asked), labels)
    for space in (pairs, counted):
        first = Problem(space, np.zeros((1, space.parts)))
        climb = Climb(first, Exact().solve(space, first).labels[0])
        climb.step()


def _used_once() -> Space:
    """Rules that presolve does not settle, in a space that nothing is compiled of yet."""
    builder = SpaceBuilder()
    own = [builder.variable(f"x{j}", "abc") for j in range(12)]
    builder.factor(own[0], own[1])
    for j in range(12):
        builder.require(at_most(2, [own[(j + k) % 12]["a"] for k in range(5)]))
        builder.require(own[j]["b"] >> ~own[(j + 1) % 12]["b"])
    return builder.build()


@contextmanager
def recording(calls: Calls, most: int = 1) -> Iterator[None]:
    """Keep the arguments of the first calls of each door."""
    for found in walk_packages(inference.__path__, "rote.inference."):
        importlib.import_module(found.name)  # whoever is imported later has the doors as they are
    replaced = []
    for name, door in doors().items():

        def record(*given: Any, name: str = name, door: Door = door) -> Any:
            if len(kept := calls.setdefault(name, [])) < most:
                kept.append(tuple(map(copied, given)))
            return door(*given)

        for module in [m for key, m in sys.modules.items() if key.startswith("rote.")]:
            for key, value in list(vars(module).items()):
                if value is door:
                    replaced.append((module, key, door))
                    setattr(module, key, record)
    try:
        yield
    finally:
        for module, key, door in replaced:
            setattr(module, key, door)
