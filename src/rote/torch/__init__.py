"""Scores from neural networks: a structured hinge loss over any engine, and a small network.

`StructuredHinge` turns part scores of any PyTorch graph into a loss. `BiLSTMTagger` is a network
for sequences that needs nothing of PyTorch from its user; its log-probabilities are feature
vectors for a `rote.tasks.tagging.Tagging` of your own, under any learner and engine.

Nothing else of rote imports this package, so that rote works without PyTorch.
"""

from rote.errors import MissingDependency

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise MissingDependency(
        "rote.torch needs the package torch, which is not installed; "
        "run: pip install '.[torch]' in a checkout of rote"
    ) from error

from rote.torch.hinge import StructuredHinge
from rote.torch.scorer import Epoch, Training
from rote.torch.tagger import BiLSTMTagger

__all__ = ["BiLSTMTagger", "Epoch", "StructuredHinge", "Training"]
