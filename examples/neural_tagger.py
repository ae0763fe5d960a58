"""What does a BiLSTM gain from rules and pairs of labels? Names in made-up English sentences."""

import sys
from dataclasses import replace

from rote import MissingDependency
from rote.datasets import english_sentences
from rote.io import ENTITIES, Sentence
from rote.metrics import chunk_f1

try:
    from rote.torch import BiLSTMTagger, Training
except MissingDependency as error:
    sys.exit(str(error))

import torch  # what is imported above says what to do where it is missing

LABELS = ("O", *(f"{place}-{kind}" for kind in ENTITIES for place in "BI"))


def tags(sentence: Sentence) -> tuple[str, ...]:
    """B- at the first word of an entity, I- at its others, O elsewhere."""
    labels = ["O"] * len(sentence.words)
    for entity in sentence.entities:
        labels[entity.start : entity.stop] = [f"I-{entity.label}"] * (entity.stop - entity.start)
        labels[entity.start] = f"B-{entity.label}"
    return tuple(labels)


torch.set_num_threads(1)  # for a network this small, more threads wait more than they work
sentences = [one for one in english_sentences(1500, seed=0) if len(one.words) <= 20]
xs, ys = [sentence.words for sentence in sentences], [tags(sentence) for sentence in sentences]
train, test = slice(200), slice(200, 400)

tokens = BiLSTMTagger(LABELS, learns_by="tokens", training=Training(epochs=8, rate=0.01))
alone = tokens.fit(xs[train], ys[train])  # each word by itself, by cross-entropy
ruled = replace(alone, bio=True)  # the same network, and outputs that obey the rules
hinge = replace(tokens, learns_by="hinge", bio=True).fit(xs[train], ys[train])

for name, tagger in {"words alone": alone, "with rules": ruled, "pairs and rules": hinge}.items():
    found = tagger.predict(xs[test])
    numbers = [[LABELS.index(label) for label in y] for y in found]
    broken = sum(not ruled.space(len(y)).holds(y).all() for y in numbers)
    print(f"{name}: F1 {chunk_f1(ys[test], found).micro.f1:.2f}, {broken} impossible outputs")
