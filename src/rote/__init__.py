"""Structured prediction under constraints, whose inference gets cheaper with use.

What is listed here is promised; deeper paths stay importable and may change.
"""

from rote.errors import (
    DataError,
    InfeasibleSpace,
    LabelError,
    MissingExtra,
    ModelError,
    NoOutput,
    Overloaded,
    RoteError,
    RuleError,
    ScoreError,
    ServiceError,
    SettingError,
    SpaceError,
    StoreError,
    TooLarge,
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
    Milp,
    Problem,
    Separable,
    Solutions,
    Source,
    Status,
    Tree,
    clamp,
    dual_bound,
    k_best,
    max_marginals,
)
from rote.inference.approximate import RGS, AmortizedRGS, Beam, ConstrainedBeam, Patterns, Speedup
from rote.inference.engine import Capability, Stats, Wrapper
from rote.inference.problem import Context
from rote.inference.wrappers.amortized import Amortized
from rote.inference.wrappers.decomposed import Decomposed, SignedComponents, Subsets
from rote.inference.wrappers.periodic import ExactEvery
from rote.inference.wrappers.timed import Timed
from rote.learning import (
    Learner,
    Local,
    Perceptron,
    Stage,
    Staged,
    State,
    StructuredSVM,
    Subgradient,
    adaptive,
    fit,
)
from rote.learning.cross_validation import cross_validate
from rote.learning.distill import teach
from rote.learning.training import train
from rote.learning.unary_classifier import fit_iid
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
from rote.space.losses import Hamming, Loss, OneMinusF1, OneMinusJaccard, ZeroOne
from rote.tasks.adapter import Adapter, adapter_of, register, show
from rote.tasks.coreference import Coreference
from rote.tasks.entity_relation import EntityRelation, Extraction
from rote.tasks.graphs import LabelledGraph
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
    "AmortizedRGS",
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
    "Exact",
    "ExactEvery",
    "Exhaustive",
    "Extraction",
    "Factor",
    "Frame",
    "Hamming",
    "InfeasibleSpace",
    "LabelError",
    "LabelledGraph",
    "Learner",
    "Local",
    "Loss",
    "Milp",
    "MissingExtra",
    "Model",
    "ModelError",
    "MultiLabel",
    "Multiclass",
    "NoOutput",
    "OneMinusF1",
    "OneMinusJaccard",
    "Overloaded",
    "Patterns",
    "Perceptron",
    "Picture",
    "Problem",
    "RoteError",
    "Rule",
    "RuleError",
    "ScoreError",
    "Separable",
    "ServiceError",
    "SettingError",
    "SignedComponents",
    "Slot",
    "Solutions",
    "Source",
    "Space",
    "SpaceBuilder",
    "SpaceError",
    "Speedup",
    "Stage",
    "Staged",
    "State",
    "Stats",
    "Status",
    "StoreError",
    "StructuredSVM",
    "Subgradient",
    "Subsets",
    "Tagging",
    "Task",
    "Templates",
    "Timed",
    "TooLarge",
    "Tree",
    "UnsupportedSpace",
    "Variable",
    "WithoutRules",
    "Wrapper",
    "ZeroOne",
    "__version__",
    "adapter_of",
    "adaptive",
    "all_different",
    "all_of",
    "any_of",
    "at_least",
    "at_most",
    "clamp",
    "count",
    "cross_validate",
    "dual_bound",
    "exactly",
    "fit",
    "fit_iid",
    "k_best",
    "max_marginals",
    "one_of",
    "prepare",
    "register",
    "show",
    "teach",
    "template",
    "train",
]
