"""Engines: MAP inference, exact and approximate, wrappers around engines, and what they return."""

from rote.inference.approximate import (
    RGS,
    Beam,
    ConstrainedBeam,
    HeuristicFeatures,
    Initializer,
    LearnedBeam,
    LearnedRestarts,
    UnaryClassifier,
)
from rote.inference.engine import Capability, Engine, Stats, Wrapper, find, layers
from rote.inference.exact.branch import BranchAndBound
from rote.inference.exact.chain import Chain
from rote.inference.exact.duals import Duals, dual_bound, zero_duals
from rote.inference.exact.elimination import Elimination
from rote.inference.exact.exact import Exact
from rote.inference.exact.exhaustive import Exhaustive
from rote.inference.exact.independent import Independent
from rote.inference.exact.kbest import k_best
from rote.inference.exact.max_marginals import max_marginals
from rote.inference.exact.tree import Tree
from rote.inference.infeasibility import find_conflict
from rote.inference.problem import Context, FeatureRows, Problem, WarmStart, clamp
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.inference.solvers.milp import Milp
from rote.inference.wrappers.amortized import (
    Amortized,
    Counters,
    EqualScores,
    LagrangianCertificate,
    Margin,
    ScoreCondition,
)
from rote.inference.wrappers.decomposed import (
    CustomSets,
    Decomposed,
    Decomposition,
    HammingBall,
    Sign,
    SignedComponents,
    Union,
    estimate_signs,
)
from rote.inference.wrappers.periodic import Periodic
from rote.inference.wrappers.timed import Timed

__all__ = [
    "RGS",
    "Amortized",
    "Beam",
    "BranchAndBound",
    "Capability",
    "Chain",
    "ConstrainedBeam",
    "Context",
    "Counters",
    "CustomSets",
    "Decomposed",
    "Decomposition",
    "Duals",
    "Elimination",
    "Engine",
    "EqualScores",
    "Exact",
    "Exhaustive",
    "FeatureRows",
    "FoundBy",
    "HammingBall",
    "HeuristicFeatures",
    "Independent",
    "Initializer",
    "LagrangianCertificate",
    "LearnedBeam",
    "LearnedRestarts",
    "Margin",
    "Milp",
    "Periodic",
    "Problem",
    "ScoreCondition",
    "Sign",
    "SignedComponents",
    "Solutions",
    "Stats",
    "Status",
    "Timed",
    "Tree",
    "UnaryClassifier",
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
