"""Amortized inference: what earlier answers prove about the next one."""

from rote.inference.amortized.certificates import Condition, DualBound, Margin, Same
from rote.inference.amortized.counters import Counters
from rote.inference.amortized.engine import Amortized

__all__ = ["Amortized", "Condition", "Counters", "DualBound", "Margin", "Same"]
