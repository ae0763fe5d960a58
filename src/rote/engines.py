"""Engines: MAP inference, exact and approximate, wrappers around engines, and what they return."""

from rote.inference.approximate import (
    IID,
    RGS,
    AmortizedRGS,
    Beam,
    ConstrainedBeam,
    Guesses,
    Patterns,
    Speedup,
)
from rote.inference.engine import Capability, Engine, Stats, Wrapper, find, layers
from rote.inference.exact.branch import BranchAndBound
from rote.inference.exact.chain import Chain
from rote.inference.exact.duals import Duals, dual_bound, zero_duals
from rote.inference.exact.elimination import Elimination
from rote.inference.exact.exact import Exact
from rote.inference.exact.exhaustive import Exhaustive
from rote.inference.exact.independent import Separable
from rote.inference.exact.kbest import k_best
from rote.inference.exact.max_marginals import max_marginals
from rote.inference.exact.tree import Tree
from rote.inference.infeasibility import find_conflict
from rote.inference.problem import Context, FeatureRows, Problem, WarmStart, clamp
from rote.inference.solutions import Solutions, Source, Status
from rote.inference.solvers.milp import Milp
from rote.inference.wrappers.amortized import (
    Amortized,
    Condition,
    Counters,
    DualBound,
    Margin,
    Same,
)
from rote.inference.wrappers.decomposed import (
    Chosen,
    Decomposed,
    Decomposition,
    Sign,
    SignedComponents,
    Subsets,
    Union,
    estimate_signs,
)
from rote.inference.wrappers.periodic import ExactEvery
from rote.inference.wrappers.timed import Timed

__all__ = [
    "IID",
    "RGS",
    "Amortized",
    "AmortizedRGS",
    "Beam",
    "BranchAndBound",
    "Capability",
    "Chain",
    "Chosen",
    "Condition",
    "ConstrainedBeam",
    "Context",
    "Counters",
    "Decomposed",
    "Decomposition",
    "DualBound",
    "Duals",
    "Elimination",
    "Engine",
    "Exact",
    "ExactEvery",
    "Exhaustive",
    "FeatureRows",
    "Guesses",
    "Margin",
    "Milp",
    "Patterns",
    "Problem",
    "Same",
    "Separable",
    "Sign",
    "SignedComponents",
    "Solutions",
    "Source",
    "Speedup",
    "Stats",
    "Status",
    "Subsets",
    "Timed",
    "Tree",
    "Union",
    "WarmStart",
    "Wrapper",
    "clamp",
    "dual_bound",
    "estimate_signs",
    "find",
    "find_conflict",
    "k_best",
    "layers",
    "max_marginals",
    "zero_duals",
]
