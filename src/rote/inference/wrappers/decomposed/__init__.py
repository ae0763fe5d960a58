"""Learning from the outputs around the gold one: `Decomposed`, and ways to say what is around."""

from rote.inference.wrappers.decomposed.components import Sign as Sign
from rote.inference.wrappers.decomposed.components import SignedComponents as SignedComponents
from rote.inference.wrappers.decomposed.components import estimate_signs as estimate_signs
from rote.inference.wrappers.decomposed.engine import Decomposed as Decomposed
from rote.inference.wrappers.decomposed.sets import CustomSets as CustomSets
from rote.inference.wrappers.decomposed.sets import Decomposition as Decomposition
from rote.inference.wrappers.decomposed.sets import HammingBall as HammingBall
from rote.inference.wrappers.decomposed.sets import NeighbourhoodSets as NeighbourhoodSets
from rote.inference.wrappers.decomposed.sets import Union as Union
