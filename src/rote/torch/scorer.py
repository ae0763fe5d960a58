"""What all networks for sequences share: training, log-probabilities, saving and loading.

A network gives every token of a sequence a score for each label. Settings are a frozen dataclass;
`fit` returns a copy that holds the trained network. Sequences are handled in batches of one
length each.

Training is a function of the examples, the settings and the seed on one machine with one number
of threads. PyTorch's own stream of random numbers is left as it was found.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from rote.errors import DataError, ModelError, SettingError
from rote.metrics import token_accuracy
from rote.model import prepare
from rote.settings import LIST, SEED, Checked, instance_of, number, whole
from rote.tasks.tagging import Tagging
from rote.torch.files import KINDS, read_network, write_network
from rote.torch.inputs import Inputs
from rote.types import FloatArray, IntArray, readonly

MANY = 256  # sequences that are scored at once where nothing is learned

Examples = tuple[Sequence[Any], Sequence[Sequence[str]]]


@dataclass(frozen=True)
class Training(Checked):
    """How a network is trained: by Adam, on batches of sequences of one length.

    Parameters
    ----------
    epochs
        The most passes over the examples.
    batch
        The most sequences in a batch.
    rate
        The size of steps, above 0.
    decay
        How fast weights shrink, at least 0.
    clip
        The longest gradient; longer ones are shortened to it.
    patience
        With validation data, training ends after so many epochs in a row that were not better than
        the best one, which is kept.
    seed
        The seed of first weights, dropout and the order of examples.
    """

    epochs: int = 30
    batch: int = 16
    rate: float = 2e-3
    decay: float = 0.0
    clip: float = 5.0
    patience: int = 5
    seed: int = 0

    checks: ClassVar = {
        **dict.fromkeys(("epochs", "batch", "patience"), whole(1)),
        **dict.fromkeys(("rate", "clip"), number(above=0)),
        "decay": number(least=0),
        "seed": SEED,
    }


class Epoch(NamedTuple):
    """What is known after an epoch.

    Parameters
    ----------
    number
        Which epoch it was, counted from 1.
    loss
        The mean over the batches, each while it was learned from.
    accuracy
        The share of right labels in the validation data; None where there are none.
    best
        Whether this is the network that would be kept.
    """

    number: int
    loss: float
    accuracy: float | None
    best: bool


class Fitted(NamedTuple):
    """A trained network, and what it sees of inputs."""

    network: nn.Module
    inputs: Inputs


@dataclass(frozen=True, eq=False)
class Scorer(Checked, ABC):
    """A network that scores the labels of every token."""

    labels: tuple[str, ...]
    training: Training = field(default_factory=Training, kw_only=True)
    fitted: Fitted | None = field(default=None, kw_only=True, repr=False)

    checks: ClassVar = {"labels": LIST, "training": instance_of(Training, "Training()")}

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.labels)) < len(self.labels) or len(self.labels) < 2:
            raise SettingError(f"labels are two or more different texts, got {self.labels}")

    @abstractmethod
    def inputs_of(self, xs: Sequence[Any]) -> Inputs:
        """What the network sees of inputs such as these, of which one at least has a token."""

    @abstractmethod
    def network_of(self, inputs: Inputs) -> nn.Module:
        """An untrained network: from the tensors of a batch to scores (m, n, labels)."""

    @abstractmethod
    def loss_of(self, network: nn.Module, scores: Tensor, gold: IntArray) -> Tensor:
        """What training makes small, for the label scores of a batch."""

    @abstractmethod
    def best_of(self, network: nn.Module, scores: Tensor) -> IntArray:
        """The best labels (m, n) of a batch."""

    @property
    def task(self) -> Tagging:
        """Which outputs a sequence may have."""
        return Tagging(self.labels, _no_features, order=0)

    @property
    def learns_under_rules(self) -> bool:
        """Whether outputs to learn from that break a rule are refused."""
        return False

    def fit(
        self,
        xs: Sequence[Any],
        ys: Sequence[Sequence[str]],
        *,
        validation: Examples | None = None,
        watch: Callable[[Epoch], None] | None = None,
    ) -> Self:
        """A copy whose network is trained from scratch; ``watch`` sees every epoch."""
        gold = self._gold(xs, ys, allow_infeasible_gold=not self.learns_under_rules)
        if validation is not None:
            self._gold(*validation, allow_infeasible_gold=True)
        if not any(len(x) for x in xs):
            raise DataError("there is nothing to learn from: no example has a token")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.training.seed)
            inputs = self.inputs_of(xs)
            network = self.network_of(inputs)
            trained = replace(self, fitted=Fitted(network, inputs))
            kept, best = deepcopy(network.state_dict()), Epoch(0, np.inf, None, best=True)
            for epoch in _epochs(trained, xs, gold, validation):
                if epoch.best:
                    kept, best = deepcopy(network.state_dict()), epoch
                if watch is not None:
                    watch(epoch)
                if epoch.number - best.number >= self.training.patience:
                    break
        network.load_state_dict(kept)
        network.eval()
        return trained

    def predict(self, xs: Sequence[Any]) -> list[tuple[str, ...]]:
        """The labels of every token of each input."""
        found: list[tuple[str, ...]] = [()] * len(xs)
        network = self._ready().network
        for members, scores in self.scored(xs):
            for member, row in zip(members.tolist(), self.best_of(network, scores), strict=True):
                found[member] = tuple(self.labels[label] for label in row)
        return found

    def log_probabilities(self, x: Any) -> list[FloatArray]:
        """For each token, the logarithm of each label's probability, from its scores alone.

        These are feature vectors: ``Tagging(labels, scorer.log_probabilities)`` is a task that any
        learner and engine of rote can take.
        """
        return self.log_probabilities_of([x])[0]

    def log_probabilities_of(self, xs: Sequence[Any]) -> list[list[FloatArray]]:
        """The log-probabilities of many inputs, which is faster than one at a time."""
        found: list[list[FloatArray]] = [[] for _ in xs]
        for members, scores in self.scored(xs):
            rows = torch.log_softmax(scores.double(), dim=-1).numpy()
            for member, own in zip(members.tolist(), rows, strict=True):
                found[member] = [readonly(row) for row in own]
        return found

    def save(self, path: str | Path) -> None:
        """Write the network and its settings to one file, which `load` brings back."""
        write_network(path, self, *self._ready())

    @classmethod
    def load(cls, path: str | Path, **again: Any) -> Self:
        """The network of a file, with everything checked.

        ``again`` gives settings that a file cannot hold, such as a function, or other ones.
        """
        settings, inputs, weights = read_network(path, cls, again)
        try:
            network = settings.network_of(inputs)
            network.load_state_dict(weights)
        except (RuntimeError, TypeError, AttributeError, ValueError) as error:
            raise ModelError(f"{path}: the weights do not fit the settings: {error}") from None
        network.eval()
        return replace(settings, fitted=Fitted(network, inputs))

    def scored(self, xs: Sequence[Any]) -> Iterator[tuple[IntArray, Tensor]]:
        """Batches of inputs of one length, and their label scores, without dropout."""
        network, inputs = self._ready()
        network.eval()
        for members in batches([len(x) for x in xs], MANY):
            with torch.no_grad():
                scores = network(*inputs.tensors([xs[k] for k in members]))
            yield members, scores

    def _gold(
        self, xs: Sequence[Any], ys: Sequence[Sequence[str]], *, allow_infeasible_gold: bool
    ) -> list[IntArray]:
        """The positions of the labels of each output."""
        dataset = prepare(self.task, xs, ys, allow_infeasible_gold=allow_infeasible_gold)
        return [group.gold[place] for group, place in dataset.places if group.gold is not None]

    def _ready(self) -> Fitted:
        if self.fitted is None:
            raise ModelError(
                f"this {type(self).__name__} is not trained; go on with what its fit returns"
            )
        return self.fitted


def _epochs(
    scorer: Scorer, xs: Sequence[Any], gold: Sequence[IntArray], validation: Examples | None
) -> Iterator[Epoch]:
    """Train the network of a scorer, epoch by epoch."""
    assert scorer.fitted is not None
    network, inputs = scorer.fitted
    training, rng = scorer.training, np.random.default_rng(scorer.training.seed)
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=training.rate, weight_decay=training.decay
    )
    lengths, most = [len(x) for x in xs], -1.0
    for epoch in range(1, training.epochs + 1):
        network.train()
        losses = []
        for members in batches(lengths, training.batch, rng):
            batch = inputs.tensors([xs[k] for k in members])
            optimizer.zero_grad()
            loss = scorer.loss_of(network, network(*batch), np.stack([gold[k] for k in members]))
            loss.backward()  # type: ignore[no-untyped-call]
            length = nn.utils.clip_grad_norm_(network.parameters(), training.clip)
            if not torch.isfinite(length):
                raise ModelError("training left the finite numbers; take a smaller rate")
            optimizer.step()
            losses.append(loss.item())
        accuracy, best = None, True
        if validation is not None:
            accuracy = token_accuracy(validation[1], scorer.predict(validation[0]))
            best = accuracy > most
            most = max(most, accuracy)
        yield Epoch(epoch, float(np.mean(losses)), accuracy, best)


def _no_features(x: Sequence[Any]) -> list[tuple[()]]:
    return [()] * len(x)


def cross_entropy(scores: Tensor, gold: IntArray) -> Tensor:
    """The mean of -log p(gold) over the tokens of a batch."""
    return nn.functional.cross_entropy(scores.flatten(0, 1), torch.from_numpy(gold).flatten())


def batches(
    lengths: Sequence[int], size: int, rng: np.random.Generator | None = None
) -> list[IntArray]:
    """Members of one length each, at most ``size`` of them; without a generator, in order."""
    each = np.asarray(lengths, dtype=np.int64)
    found = []
    for length in np.unique(each[each > 0]):
        members = np.flatnonzero(each == length)
        if rng is not None:
            members = rng.permutation(members)
        found += [members[k : k + size] for k in range(0, len(members), size)]
    if rng is None:
        return found
    return [found[k] for k in rng.permutation(len(found))]


KINDS["Training"] = Training
