"""Finding the best output of a space under scores: engines, and what they return."""

from rote.inference.base import Engine, Objective, Solutions, Source, Status, clamp
from rote.inference.branch import BranchAndBound
from rote.inference.chain import Chain
from rote.inference.duals import Duals, dual_bound, zero_duals
from rote.inference.elimination import Elimination
from rote.inference.exact import Exact
from rote.inference.exhaustive import Exhaustive
from rote.inference.infeasible import find_conflict
from rote.inference.kbest import k_best
from rote.inference.marginals import max_marginals
from rote.inference.milp import Milp
from rote.inference.separable import Separable
from rote.inference.tree import Tree

__all__ = [
    "BranchAndBound",
    "Chain",
    "Duals",
    "Elimination",
    "Engine",
    "Exact",
    "Exhaustive",
    "Milp",
    "Objective",
    "Separable",
    "Solutions",
    "Source",
    "Status",
    "Tree",
    "clamp",
    "dual_bound",
    "find_conflict",
    "k_best",
    "max_marginals",
    "zero_duals",
]
