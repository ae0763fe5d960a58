"""Finding the best output of a space under scores: engines, and what they return."""

from rote.inference.engine import Engine
from rote.inference.exact.branch import BranchAndBound
from rote.inference.exact.chain import Chain
from rote.inference.exact.duals import Duals, dual_bound, zero_duals
from rote.inference.exact.elimination import Elimination
from rote.inference.exact.exact import Exact
from rote.inference.exact.exhaustive import Exhaustive
from rote.inference.exact.independent import Independent
from rote.inference.exact.kbest import k_best
from rote.inference.exact.max_marginals import max_marginals
from rote.inference.exact.message_passing import MessagePassing
from rote.inference.exact.tree import Tree
from rote.inference.infeasibility import find_conflict
from rote.inference.problem import Problem, clamp
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.inference.solvers.milp import Milp

__all__ = [
    "BranchAndBound",
    "Chain",
    "Duals",
    "Elimination",
    "Engine",
    "Exact",
    "Exhaustive",
    "FoundBy",
    "Independent",
    "MessagePassing",
    "Milp",
    "Problem",
    "Solutions",
    "Status",
    "Tree",
    "clamp",
    "dual_bound",
    "find_conflict",
    "k_best",
    "max_marginals",
    "zero_duals",
]
