"""Structured prediction under constraints, whose inference gets cheaper with use.

What is listed here is promised; deeper paths stay importable and may change.
"""

from rote.errors import (
    DataError,
    InfeasibleSpace,
    InputTooLarge,
    LabelError,
    MissingDependency,
    ModelError,
    NoSolution,
    Overloaded,
    RoteError,
    RuleError,
    ScoreError,
    ServiceError,
    SettingError,
    SpaceError,
    StoreError,
    UnsupportedSpace,
)
from rote.features import Templates
from rote.inference import (
    BranchAndBound,
    Chain,
    Duals,
    Elimination,
    Engine,
    Exact,
    Exhaustive,
    FoundBy,
    Independent,
    Milp,
    Problem,
    Solutions,
    Status,
    Tree,
    clamp,
    dual_bound,
    k_best,
    max_marginals,
)
from rote.inference.approximate import (
    RGS,
    Beam,
    ConstrainedBeam,
    HeuristicFeatures,
    LearnedBeam,
    LearnedRestarts,
)
from rote.inference.engine import Capability, Stats, Wrapper
from rote.inference.problem import Context
from rote.inference.wrappers.amortized import Amortized
from rote.inference.wrappers.decomposed import Decomposed, HammingBall, SignedComponents
from rote.inference.wrappers.periodic import Periodic
from rote.inference.wrappers.timed import Timed
from rote.learning import (
    EpsilonSchedule,
    EpsilonStage,
    IndependentPerceptron,
    Learner,
    Perceptron,
    State,
    StructuredSVM,
    Subgradient,
    adaptive_schedule,
    fit,
)
from rote.learning.cross_validation import cross_validate
from rote.learning.distill import distill
from rote.learning.training import train
from rote.learning.unary_classifier import fit_unary_classifier
from rote.model import Model, prepare
from rote.space import (
    Factor,
    Rule,
    Space,
    SpaceBuilder,
    Variable,
    all_different,
    all_of,
    any_of,
    at_least,
    at_most,
    count,
    exactly,
    one_of,
    template,
)
from rote.space.losses import F1Loss, Hamming, JaccardLoss, Loss, ZeroOne
from rote.tasks.adapter import Adapter, adapter_of, register, show
from rote.tasks.coreference import Coreference
from rote.tasks.entity_relation import EntityRelation, EntityRelationOutput
from rote.tasks.graphs import GraphLabelling
from rote.tasks.multiclass import Multiclass
from rote.tasks.multilabel import MultiLabel
from rote.tasks.tagging import Tagging
from rote.tasks.task import Frame, Slot, Task, WithoutRules
from rote.viz import Picture

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
