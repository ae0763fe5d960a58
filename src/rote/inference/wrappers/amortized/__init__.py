"""Amortized inference: what earlier answers prove about the next one."""

from rote.inference.wrappers.amortized.certificates import (
    Algorithm1,
    EqualScores,
    LagrangianCertificate,
    Margin,
    ScoreCondition,
)
from rote.inference.wrappers.amortized.counters import Counters
from rote.inference.wrappers.amortized.engine import Amortized

__all__ = [
    "Algorithm1",
    "Amortized",
    "Counters",
    "EqualScores",
    "LagrangianCertificate",
    "Margin",
    "ScoreCondition",
]
