"""Losses: how wrong an output is, in learning."""

from rote.space.losses import F1Loss as F1Loss
from rote.space.losses import Hamming as Hamming
from rote.space.losses import JaccardLoss as JaccardLoss
from rote.space.losses import Loss as Loss
from rote.space.losses import LossTerm as LossTerm
from rote.space.losses import ZeroOne as ZeroOne
