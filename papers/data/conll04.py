"""The entity-relation corpus of Roth and Yih (CoNLL 2004), in its original column file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from papers.data.checks import check_counts
from papers.data.folder import data_folder
from rote.errors import DataError
from rote.io import Sentence
from rote.io.conll import numbered_sentences
from rote.io.text import line_error, numbered_lines

FOLDER = "conll04"


CORPUS, SPLITS = "conll04.corp.gz", "relation_splits.tsv"


SPLIT_NAMES = ("train", "dev", "test")


# What the corpus is known to hold; `load_conll04` accepts nothing else.
COUNTS: Mapping[str, int] = MappingProxyType(
    {
        "sentences": 5516,
        "sentences with a relation": 1441,
        "Peop": 3918,
        "Loc": 4765,
        "Org": 2499,
        "Other": 2995,
        "Kill": 268,
        "Live_In": 521,
        "Work_For": 401,
        "OrgBased_In": 452,
        "Located_In": 406,
        "train": 910,
        "dev": 243,
        "test": 288,
    }
)


@dataclass(frozen=True)
class Conll04:
    """The corpus; ``splits`` says train, dev or test for every sentence with a relation."""

    sentences: tuple[Sentence, ...]
    splits: Mapping[int, str]

    def split(self, name: str) -> tuple[Sentence, ...]:
        """The sentences of one split."""
        if name not in SPLIT_NAMES:
            raise DataError(f"the splits are {', '.join(SPLIT_NAMES)}, got {name!r}")
        return tuple(s for s in self.sentences if self.splits.get(s.id) == name)


def load_conll04(folder: str | Path | None = None) -> Conll04:
    """The corpus and its splits, with every count checked; by default from ROTE_DATA/conll04."""
    folder = data_folder(FOLDER) if folder is None else Path(folder)
    corpus = Conll04(read_sentences(folder / CORPUS), read_splits(folder / SPLITS))
    check_counts(FOLDER, folder, COUNTS, tally(corpus))
    unknown = corpus.splits.keys() - {s.id for s in corpus.sentences if s.relations}
    if unknown:
        raise DataError(
            f"{folder / SPLITS}: sentence {min(unknown)} has no relation in {CORPUS}, or is missing"
        )
    return corpus


def tally(corpus: Conll04) -> Counter[str]:
    """How many sentences, entities and relations of each kind there are, and the size of splits."""
    found: Counter[str] = Counter()
    for sentence in corpus.sentences:
        found["sentences"] += 1
        found["sentences with a relation"] += bool(sentence.relations)
        found.update(entity.label for entity in sentence.entities)
        found.update(relation.label for relation in sentence.relations)
    found.update(corpus.splits.values())
    return found


def read_sentences(path: str | Path) -> tuple[Sentence, ...]:
    """The sentences of a column file with the corpus's own labels, plain or compressed."""
    return tuple(sentence for _, sentence in numbered_sentences(Path(path)))


def read_splits(path: str | Path) -> Mapping[int, str]:
    """The split of each sentence, by its id."""
    path = Path(path)
    splits: dict[int, str] = {}
    for number, line in numbered_lines(path):
        fields = line.split("\t")
        if len(fields) != 2 or not fields[0].isdecimal() or fields[1] not in SPLIT_NAMES:
            expected = f"a sentence's id, a tab and one of {', '.join(SPLIT_NAMES)}"
            raise line_error(path, number, f"expected {expected}, got {line!r}")
        if int(fields[0]) in splits:
            raise line_error(path, number, f"sentence {fields[0]} has a split already")
        splits[int(fields[0])] = fields[1]
    return MappingProxyType(splits)
