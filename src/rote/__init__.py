"""Structured prediction under constraints, whose inference gets cheaper with use.

What is listed here is promised; deeper paths stay importable and may change. A name is looked up
when it is first used, so that `import rote` loads nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rote.engines import *
    from rote.errors import *
    from rote.features import *
    from rote.learners import *
    from rote.losses import *
    from rote.model import *
    from rote.space import *
    from rote.tasks import *
    from rote.viz import *

__version__ = "0.1.0"

__all__ = [
    "RGS",
    "Adapter",
    "Amortized",
    "Beam",
    "BranchAndBound",
    "Capability",
    "Chain",
    "ConstrainedBeam",
    "Context",
    "Coreference",
    "CpSat",
    "DataError",
    "Decomposed",
    "Duals",
    "Elimination",
    "Engine",
    "EntityRelation",
    "EntityRelationOutput",
    "EpsilonSchedule",
    "EpsilonStage",
    "Exact",
    "Exhaustive",
    "Explanation",
    "F1Loss",
    "Factor",
    "FoundBy",
    "Frame",
    "GraphLabelling",
    "Hamming",
    "HammingBall",
    "HeuristicFeatures",
    "Independent",
    "IndependentPerceptron",
    "InfeasibleSpace",
    "InputTooLarge",
    "JaccardLoss",
    "LabelError",
    "LearnedBeam",
    "LearnedRestarts",
    "Learner",
    "Loss",
    "MessagePassing",
    "Milp",
    "MissingDependency",
    "Model",
    "ModelError",
    "MultiLabel",
    "Multiclass",
    "NoSolution",
    "Overloaded",
    "Perceptron",
    "Periodic",
    "Picture",
    "Problem",
    "RoteError",
    "Rule",
    "RuleError",
    "RuleReport",
    "ScoreError",
    "ServiceError",
    "SettingError",
    "SignedComponents",
    "Slot",
    "Solutions",
    "SolverError",
    "Space",
    "SpaceBuilder",
    "SpaceError",
    "State",
    "Stats",
    "Status",
    "StoreError",
    "StructuredSVM",
    "Subgradient",
    "Tagging",
    "Task",
    "Templates",
    "Timed",
    "Toulbar2",
    "Tree",
    "UnsupportedSpace",
    "Variable",
    "WithoutRules",
    "Wrapper",
    "ZeroOne",
    "__version__",
    "acyclic",
    "adapter_of",
    "adaptive_schedule",
    "all_different",
    "all_of",
    "any_of",
    "at_least",
    "at_most",
    "clamp",
    "count",
    "cross_validate",
    "distill",
    "dual_bound",
    "exactly",
    "explain",
    "fit",
    "fit_unary_classifier",
    "functional",
    "inverse",
    "k_best",
    "max_marginals",
    "nested_or_apart",
    "no_overlap",
    "one_of",
    "prepare",
    "register",
    "rule_report",
    "show",
    "solve_many",
    "symmetric",
    "template",
    "train",
]

# Where each name is defined, so that asking for one loads what it needs and no more.
_DEFINED = {
    "errors": (
        "DataError InfeasibleSpace InputTooLarge LabelError MissingDependency ModelError "
        "NoSolution Overloaded RoteError RuleError ScoreError ServiceError SettingError "
        "SolverError SpaceError StoreError UnsupportedSpace"
    ),
    "features.templates": "Templates",
    "inference.approximate.beam": "Beam ConstrainedBeam",
    "inference.approximate.beam_plan": "HeuristicFeatures",
    "inference.approximate.greedy": "RGS",
    "inference.approximate.learned_beam": "LearnedBeam",
    "inference.approximate.learned_restarts": "LearnedRestarts",
    "inference.engine": "Capability Engine Stats Wrapper",
    "inference.exact.branch": "BranchAndBound",
    "inference.exact.chain": "Chain",
    "inference.exact.duals": "Duals dual_bound",
    "inference.exact.elimination": "Elimination",
    "inference.exact.exact": "Exact",
    "inference.exact.exhaustive": "Exhaustive",
    "inference.exact.independent": "Independent",
    "inference.exact.kbest": "k_best",
    "inference.exact.max_marginals": "max_marginals",
    "inference.exact.message_passing": "MessagePassing",
    "inference.exact.tree": "Tree",
    "inference.many": "solve_many",
    "inference.explain": "Explanation explain",
    "inference.problem": "Context Problem clamp",
    "inference.rule_report": "RuleReport rule_report",
    "inference.solutions": "FoundBy Solutions Status",
    "inference.solvers.cp_sat": "CpSat",
    "inference.solvers.milp": "Milp",
    "inference.solvers.toulbar2": "Toulbar2",
    "inference.wrappers.amortized.engine": "Amortized",
    "inference.wrappers.decomposed.components": "SignedComponents",
    "inference.wrappers.decomposed.engine": "Decomposed",
    "inference.wrappers.decomposed.sets": "HammingBall",
    "inference.wrappers.periodic": "Periodic",
    "inference.wrappers.timed": "Timed",
    "learning.base": "Learner State fit",
    "learning.cross_validation": "cross_validate",
    "learning.distill": "distill",
    "learning.epsilon_schedule": "EpsilonSchedule EpsilonStage adaptive_schedule",
    "learning.perceptron": "IndependentPerceptron Perceptron",
    "learning.subgradient": "Subgradient",
    "learning.svm": "StructuredSVM",
    "learning.training": "train",
    "learning.unary_classifier": "fit_unary_classifier",
    "model.dataset": "prepare",
    "model.model": "Model",
    "space.builder": "SpaceBuilder template",
    "space.language": "Rule Variable",
    "space.losses": "F1Loss Hamming JaccardLoss Loss ZeroOne",
    "space.quantifiers": "all_different all_of any_of at_least at_most count exactly one_of",
    "space.relations": "acyclic functional inverse nested_or_apart no_overlap symmetric",
    "space.space": "Factor Space",
    "tasks.adapter": "Adapter adapter_of register show",
    "tasks.coreference": "Coreference",
    "tasks.entity_relation": "EntityRelation EntityRelationOutput",
    "tasks.graphs": "GraphLabelling",
    "tasks.multiclass": "Multiclass",
    "tasks.multilabel": "MultiLabel",
    "tasks.tagging": "Tagging",
    "tasks.task": "Frame Slot Task WithoutRules",
    "viz.picture": "Picture",
}

if not TYPE_CHECKING:  # for a type checker, names come from the imports above
    _MODULES = {name: module for module, names in _DEFINED.items() for name in names.split()}

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module 'rote' has no attribute {name!r}")
        value = getattr(import_module(f"rote.{_MODULES[name]}"), name)
        return globals().setdefault(name, value)

    def __dir__() -> list[str]:
        return __all__
