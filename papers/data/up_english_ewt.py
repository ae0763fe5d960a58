"""Who did what to whom: PropBank roles on the English Web Treebank, in CoNLL-U with roles.

The ten columns of CoNLL-U, apart by tabs, are followed by the roleset of a word that is
a predicate (_ for others), and by one column per predicate of the sentence, in order,
with the role of each word in it (_ for none):

    1  Geese  goose  NOUN  NNS  _  2  nsubj  _  _  _         ARG0
    2  left   leave  VERB  VBD  _  0  root   _  _  leave.01  V

Three things to know of the files. Some rows end in a stray tab, whose empty cell is
dropped here. Words that are understood but not written (numbers such as 10.1) are left
out. In 43 sentences the columns of roles are blank: nobody looked for predicates there,
and they give no examples. The role V is nearly always, not always, on the predicate.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from papers.data.checks import check_counts
from papers.data.columns import Block, Row, read_blocks
from papers.data.examples import DataSet, Example, Labels
from papers.data.folder import data_folder
from rote.io.text import line_error

NAME = "up_english_ewt"
NONE = "_"  # no role, no roleset
# Senses of auxiliary verbs, which have no roles worth predicting.
AUXILIARIES = ("be.03", "have.01", "do.01", "get.03")
COLUMNS = 11  # before those of the roles
ROLE = re.compile(r"_|([CR]-)?(V|ARG([0-5A]|M-[A-Z]{3})(-DSP)?)")
ROLESET = re.compile(r"_|\S+\.(\d+|LV)")

COUNTS: Mapping[str, int] = MappingProxyType(
    {
        "dev sentences": 2002,
        "dev words": 25_148,
        "dev predicates": 4977,
        "dev auxiliaries": 577,
        "dev words without a roleset cell": 179,
        "test sentences": 2077,
        "test words": 25_096,
        "test predicates": 4799,
        "test auxiliaries": 558,
        "test words without a roleset cell": 87,
    }
)


@dataclass(frozen=True)
class Predicate:
    """A predicate in its sentence: ``words[index]``, in the sense of its roleset.

    Words are counted from 0, and the head of the root is -1.
    """

    words: tuple[str, ...]
    lemmas: tuple[str, ...]
    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    heads: tuple[int, ...]
    deprels: tuple[str, ...]
    index: int
    roleset: str


@dataclass(frozen=True)
class Sentence:
    """The words of a sentence, and an example for each predicate in it."""

    words: tuple[str, ...]
    annotated: bool  # False where nobody looked for predicates
    predicates: tuple[Example[Predicate, Labels], ...]


def load_up_english_ewt(
    folder: str | Path | None = None, *, auxiliaries: bool = False
) -> DataSet[Predicate, Labels]:
    """Predicates in their sentences, and a role for each word, _ for none.

    The parts are dev and test; there is no train, so people train on dev. Auxiliary
    senses (be.03, have.01, do.01, get.03) are left out unless ``auxiliaries``.
    """
    folder = data_folder(NAME) if folder is None else Path(folder)
    sentences = {
        part: read_roles(folder / f"en_ewt-up-{part}.conllu.gz") for part in ("dev", "test")
    }
    found: Counter[str] = Counter()
    for part, own in sentences.items():
        found[f"{part} sentences"] = len(own)
        for sentence in own:
            found[f"{part} words"] += len(sentence.words)
            found[f"{part} predicates"] += len(sentence.predicates)
            found[f"{part} auxiliaries"] += sum(map(_is_auxiliary, sentence.predicates))
            if not sentence.annotated:
                found[f"{part} words without a roleset cell"] += len(sentence.words)
    check_counts(NAME, folder, COUNTS, found)
    parts = {
        part: tuple(
            example
            for sentence in own
            for example in sentence.predicates
            if auxiliaries or not _is_auxiliary(example)
        )
        for part, own in sentences.items()
    }
    return DataSet(NAME, parts)


def read_roles(path: str | Path) -> tuple[Sentence, ...]:
    """The sentences of a file in this format, plain or compressed."""
    path = Path(path)
    return tuple(_sentence(path, block) for block in read_blocks(path, None, comment="#"))


def _is_auxiliary(example: Example[Predicate, Labels]) -> bool:
    return example.x.roleset in AUXILIARIES


def _sentence(path: Path, block: Block) -> Sentence:
    rows = [row for row in block.rows if "." not in row.cells[0]]
    if not rows:
        raise line_error(path, block.number, "expected a sentence, and no word of it is written")
    for place, (number, cells) in enumerate(rows, start=1):
        if cells[0] != str(place):
            raise line_error(path, number, f"expected word {place}, got {cells[0]!r}")
        if len(cells) < COLUMNS:
            raise line_error(path, number, f"expected {COLUMNS} columns or more, got {len(cells)}")
    annotated = any(row.cells[COLUMNS - 1] for row in rows)
    at = [k for k, row in enumerate(rows) if row.cells[COLUMNS - 1] not in ("", NONE)]
    roles = [_roles(path, row, len(at), annotated) for row in rows]
    _, words, lemmas, upos, xpos, _, _, deprels = zip(*(row.cells[:8] for row in rows), strict=True)
    heads = tuple(_head(path, row, len(rows)) for row in rows)
    examples = tuple(
        Example(
            Predicate(words, lemmas, upos, xpos, heads, deprels, k, rows[k].cells[COLUMNS - 1]),
            tuple(own[column] for own in roles),
        )
        for column, k in enumerate(at)
    )
    return Sentence(words, annotated, examples)


def _roles(path: Path, row: Row, predicates: int, annotated: bool) -> Sequence[str]:
    """The roles of one word, after a check of its cells."""
    number, cells = row
    if "" in cells[: COLUMNS - 1]:
        raise line_error(path, number, f"column {cells.index('') + 1} is empty")
    roles = cells[COLUMNS:-1] if cells[-1] == "" and len(cells) > COLUMNS else cells[COLUMNS:]
    if len(roles) != predicates:
        raise line_error(
            path,
            number,
            f"expected {predicates} columns of roles, one per predicate of the sentence, "
            f"got {len(roles)}",
        )
    roleset = cells[COLUMNS - 1]
    if annotated and not ROLESET.fullmatch(roleset):
        raise line_error(path, number, f"expected _ or a roleset such as go.01, got {roleset!r}")
    for role in roles:
        if not ROLE.fullmatch(role):
            raise line_error(path, number, f"expected _ or a role such as ARG0, got {role!r}")
    return roles


def _head(path: Path, row: Row, words: int) -> int:
    head = row.cells[6]
    if not head.isdecimal() or int(head) > words:
        raise line_error(path, row.number, f"expected the head, 0 to {words}, got {head!r}")
    return int(head) - 1
