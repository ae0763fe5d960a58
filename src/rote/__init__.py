"""Structured prediction under constraints, whose inference gets cheaper with use.

What is listed here is promised; deeper paths stay importable and may change. A name is looked up in
its namespace when it is first used, so that `import rote` loads nothing else.
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
    "ScoreError",
    "ServiceError",
    "SettingError",
    "SignedComponents",
    "Slot",
    "Solutions",
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
    "Tree",
    "UnsupportedSpace",
    "Variable",
    "WithoutRules",
    "Wrapper",
    "ZeroOne",
    "__version__",
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
    "fit",
    "fit_unary_classifier",
    "k_best",
    "max_marginals",
    "one_of",
    "prepare",
    "register",
    "show",
    "template",
    "train",
]

_ROOMS = ("errors", "space", "features", "losses", "viz", "engines", "tasks", "model", "learners")

if not TYPE_CHECKING:  # for a type checker, names come from the imports above

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module 'rote' has no attribute {name!r}")
        modules = (import_module(f"rote.{module}") for module in _ROOMS)
        value = next(getattr(module, name) for module in modules if hasattr(module, name))
        return globals().setdefault(name, value)

    def __dir__() -> list[str]:
        return __all__
