"""Coreference: documents whose mentions are given, to be put into clusters.

LitBank is two files. The column file has one word a row, and its last column opens and
closes mentions by the number of their cluster; the other has what each mention is:

    #begin document (bleak_house); part 0
    bleak_house  0  0  Lincoln  _  _  _  _  _  _  _  _  (3
    bleak_house  0  1  Hall     _  _  _  _  _  _  _  _  3)
                                                            (a blank line ends a sentence)
    #end document

    bleak_house  MENTION  T2  0  0  0  1  Lincoln Hall  FAC  PROP

GUM is three tables: words with lemma, two tags, head and relation; mentions by the first,
last and head word, counted over the document; and documents with their part and genre.

x is a `Document`, y the cluster of each of its mentions, by the numbers of the file. In
LitBank a mention that is an apposition or the object of a copula stands alone, as in the
column file. GUM's information status is left out: it tells new from known entities, and
so gives the answer away.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from papers.data.checks import check_counts, check_label
from papers.data.examples import DataSet, Example
from papers.data.folder import data_folder
from rote.errors import DataError
from rote.io.text import line_error, numbered_lines
from rote.tasks import Document, Mention, ParsedSentence

LITBANK, GUM = "litbank_coref", "gum_coref"


LITBANK_WORDS, LITBANK_MENTIONS = "litbank_coref.conll.gz", "litbank_mentions.tsv.gz"


GUM_WORDS, GUM_MENTIONS, GUM_DOCUMENTS = (
    "gum_tokens.tsv.gz",
    "gum_mentions.tsv.gz",
    "gum_docs.tsv",
)


GUM_PARTS = ("train", "dev", "test", "test2")


LITBANK_KINDS = ("PER", "FAC", "LOC", "GPE", "VEH", "ORG")


LITBANK_FORMS = ("PROP", "NOM", "PRON")


GUM_KINDS = (
    "abstract",
    "animal",
    "event",
    "object",
    "organization",
    "person",
    "place",
    "plant",
    "substance",
    "time",
)


BEGIN = re.compile(r"#begin document \((.+)\); part 0")


END = "#end document"


BRACKET = re.compile(r"(\(?)(\d+)(\)?)")


# How many columns a line of LitBank's second file has, by its kind.
LITBANK_COLUMNS = {"MENTION": 10, "COREF": 4, "COP": 4, "APPOS": 4}


LITBANK_COUNTS = {
    "documents": 100,
    "sentences": 8562,
    "words": 210532,
    "mentions": 29103,
    "clusters": 7927,
    "PER": 24180,
    "PRON": 15816,
}


GUM_COUNTS = {
    "documents": 263,
    "sentences": 14597,
    "words": 251725,
    "mentions": 71153,
    "clusters": 37098,
    "train documents": 177,
    "train mentions": 49649,
    "dev documents": 30,
    "dev mentions": 7897,
    "test documents": 30,
    "test mentions": 7927,
    "test2 documents": 26,
    "test2 mentions": 5680,
}


Clusters: TypeAlias = tuple[int, ...]


Examples: TypeAlias = tuple[Example[Document, Clusters], ...]


Corpus: TypeAlias = DataSet[Document, Clusters]


class _Span(NamedTuple):
    sentence: int
    start: int
    stop: int


def load_litbank_coref(folder: str | Path | None = None) -> Corpus:
    """LitBank as the part "all", counts checked: it has no split, people cross-validate."""
    folder = data_folder(LITBANK) if folder is None else Path(folder)
    examples = read_litbank(folder / LITBANK_WORDS, folder / LITBANK_MENTIONS)
    check_counts(LITBANK, folder, LITBANK_COUNTS, tally(examples))
    return DataSet(LITBANK, MappingProxyType({"all": examples}))


def load_gum_coref(folder: str | Path | None = None) -> Corpus:
    """GUM by train, dev and test, and test2 with other genres; counts checked."""
    folder = data_folder(GUM) if folder is None else Path(folder)
    corpus = read_gum(folder / GUM_WORDS, folder / GUM_MENTIONS, folder / GUM_DOCUMENTS)
    found = tally([example for part in corpus.parts.values() for example in part])
    for part, examples in corpus.parts.items():
        found.update({f"{part} {what}": count for what, count in tally(examples).items()})
    check_counts(GUM, folder, GUM_COUNTS, found)
    return corpus


def tally(examples: Sequence[Example[Document, Clusters]]) -> Counter[str]:
    """How many documents, sentences, words, mentions and clusters, and mentions of each kind."""
    found: Counter[str] = Counter(documents=len(examples))
    for document, clusters in examples:
        found["sentences"] += len(document.sentences)
        found["words"] += sum(len(sentence.words) for sentence in document.sentences)
        found["mentions"] += len(document.mentions)
        found["clusters"] += len(set(clusters))
        found.update(mention.kind for mention in document.mentions)
        found.update(mention.form for mention in document.mentions if mention.form)
    return found


def read_litbank(words: str | Path, mentions: str | Path) -> Examples:
    """The documents of LitBank's two files, in the order of the column file."""
    words, mentions = Path(words), Path(mentions)
    described = _read_descriptions(mentions)
    examples = {}
    for number, name, sentences, clusters in _read_columns(words):
        if name in examples:
            raise line_error(words, number, f"document {name!r} is in the file already")
        own = described.pop(name, {})
        apart = sorted(own.keys() ^ clusters.keys())
        if apart:
            where = mentions.name if apart[0] in own else words.name
            raise DataError(
                f"{words}: in document {name!r}, sentence {apart[0].sentence}, the mention of "
                f"words {apart[0].start} to {apart[0].stop - 1} is in {where} only"
            )
        spans = sorted(clusters, key=_reading_order)
        document = Document(name, "fiction", sentences, tuple(own[span] for span in spans))
        examples[name] = Example(document, tuple(clusters[span] for span in spans))
    if described:
        raise DataError(f"{mentions}: document {min(described)!r} is not in {words.name}")
    return tuple(examples.values())


def _read_columns(
    path: Path,
) -> Iterator[tuple[int, str, tuple[ParsedSentence, ...], dict[_Span, int]]]:
    """Of each document its first line, name, sentences, and the cluster of each mention."""
    document: _Columns | None = None
    for number, line in numbered_lines(path):
        begin = BEGIN.fullmatch(line)
        if document is None:
            if begin:
                document = _Columns(path, number, begin[1])
            elif line:
                raise line_error(path, number, f"expected '#begin document', got {line!r}")
        elif line == END:
            yield document.start, document.name, *document.finish(number)
            document = None
        elif begin:
            raise line_error(path, number, f"expected {END!r} of {document.name!r} before this")
        elif line:
            document.add_word(number, line)
        else:
            document.end_sentence(number)
    if document is not None:
        raise line_error(
            path, number, f"the file ends inside document {document.name!r}; it may be cut off"
        )


class _Columns:
    """The document that is being read from the column file."""

    def __init__(self, path: Path, start: int, name: str) -> None:
        self.path = path
        self.start = start
        self.name = name
        self.words: list[str] = []
        self.sentences: list[ParsedSentence] = []
        self.open: dict[int, list[int]] = defaultdict(list)
        self.clusters: dict[_Span, int] = {}

    def add_word(self, number: int, line: str) -> None:
        fields = _fields(self.path, number, line, 13)
        name, _, place, word = fields[:4]
        if name != self.name:
            raise line_error(self.path, number, f"expected document {self.name!r}, got {name!r}")
        if place != str(len(self.words)):
            raise line_error(
                self.path, number, f"expected word {len(self.words)} of the sentence, got {place!r}"
            )
        self.words.append(word)
        for mark in fields[-1].split("|") if fields[-1] else []:
            self.add_mark(number, mark)

    def add_mark(self, number: int, mark: str) -> None:
        found = BRACKET.fullmatch(mark)
        if not found or not (found[1] or found[3]):
            raise line_error(
                self.path, number, f"expected a mention such as (3 or 3) or (3), got {mark!r}"
            )
        cluster, place = int(found[2]), len(self.words) - 1
        if found[1]:
            self.open[cluster].append(place)
        if found[3]:
            if not self.open[cluster]:
                raise line_error(self.path, number, f"{mark!r} closes what no word has opened")
            # The mention opened last is the inner one.
            span = _Span(len(self.sentences), self.open[cluster].pop(), place + 1)
            if span in self.clusters:
                raise line_error(self.path, number, f"{mark!r} closes the same mention again")
            self.clusters[span] = cluster

    def end_sentence(self, number: int) -> None:
        still_open = [cluster for cluster, starts in self.open.items() if starts]
        if still_open:
            raise line_error(
                self.path,
                number,
                f"the sentence ends and a mention of cluster {still_open[0]} is not closed",
            )
        if self.words:
            self.sentences.append(ParsedSentence(tuple(self.words)))
        self.words = []

    def finish(self, number: int) -> tuple[tuple[ParsedSentence, ...], dict[_Span, int]]:
        self.end_sentence(number)
        return tuple(self.sentences), self.clusters


def _read_descriptions(path: Path) -> dict[str, dict[_Span, Mention]]:
    """The mentions of each document by their span; lines that link mentions are passed over."""
    described: dict[str, dict[_Span, Mention]] = defaultdict(dict)
    for number, line in numbered_lines(path):
        kind = (*line.split("\t", 2), "", "")[1]
        check_label(path, number, kind, LITBANK_COLUMNS)
        name, _, _, *fields = _fields(path, number, line, LITBANK_COLUMNS[kind])
        if kind != "MENTION":
            continue
        sentence, start, last_sentence, last = (
            _whole(path, number, field, "a sentence or a word") for field in fields[:4]
        )
        if sentence != last_sentence or last < start:
            raise line_error(path, number, "expected a mention inside one sentence")
        check_label(path, number, fields[5], LITBANK_KINDS)
        check_label(path, number, fields[6], LITBANK_FORMS)
        span = _Span(sentence, start, last + 1)
        if span in described[name]:
            raise line_error(path, number, f"{name!r} has a mention of these words already")
        described[name][span] = Mention(*span, kind=fields[5], form=fields[6])
    return dict(described)


def read_gum(words: str | Path, mentions: str | Path, documents: str | Path) -> Corpus:
    """The documents of GUM's three tables, by their parts."""
    words, mentions, documents = Path(words), Path(mentions), Path(documents)
    texts = _read_words(words)
    marked = _read_mentions(mentions, texts)
    parts: dict[str, list[Example[Document, Clusters]]] = {part: [] for part in GUM_PARTS}
    seen: set[str] = set()
    for number, line in numbered_lines(documents):
        name, part, genre, *sizes = _fields(documents, number, line, 7)
        check_label(documents, number, part, GUM_PARTS)
        if name in seen or name not in texts:
            fault = "is in the file already" if name in seen else f"is not in {words.name}"
            raise line_error(documents, number, f"document {name!r} {fault}")
        seen.add(name)
        own = marked.get(name, {})
        spans = sorted(own, key=_reading_order)
        example = Example(
            Document(name, genre, texts[name].sentences, tuple(own[span][0] for span in spans)),
            tuple(own[span][1] for span in spans),
        )
        found = tally([example])
        for what, size in zip(("sentences", "words", "mentions", "clusters"), sizes, strict=True):
            if size != str(found[what]):
                reason = f"{name!r} should have {size} {what}, and has {found[what]}"
                raise line_error(documents, number, reason)
        parts[part].append(example)
    if unlisted := texts.keys() - seen:
        raise DataError(f"{words}: document {min(unlisted)!r} is not in {documents.name}")
    return DataSet(GUM, MappingProxyType({part: tuple(own) for part, own in parts.items()}))


class _Text(NamedTuple):
    sentences: tuple[ParsedSentence, ...]
    places: tuple[tuple[int, int], ...]  # of each word: its sentence, and its place there


def _read_words(path: Path) -> dict[str, _Text]:
    rows: dict[str, list[tuple[int, list[str]]]] = {}
    last: list[tuple[int, list[str]]] = []
    for number, line in numbered_lines(path):
        name, *fields = _fields(path, number, line, 9)
        own = rows.setdefault(name, [])
        if own and own is not last:
            raise line_error(path, number, f"document {name!r} goes on after another began")
        last = own
        sentence = _whole(path, number, fields[0], "a sentence")
        before = int(own[-1][1][0]) if own else -1
        if sentence not in {before, before + 1} or sentence < 0:
            raise line_error(path, number, f"expected sentence {before + 1}, got {sentence}")
        if fields[1] != str(len(own)):
            raise line_error(path, number, f"expected word {len(own)}, got {fields[1]!r}")
        own.append((number, fields))
    return {name: _text(path, own) for name, own in rows.items()}


def _text(path: Path, rows: Sequence[tuple[int, list[str]]]) -> _Text:
    cut: list[list[tuple[int, list[str]]]] = []
    places = []
    for number, fields in rows:
        if int(fields[0]) == len(cut):
            cut.append([])
        places.append((len(cut) - 1, len(cut[-1])))
        cut[-1].append((number, fields))
    sentences = []
    for own in cut:
        first, heads = int(own[0][1][1]), []
        for number, fields in own:
            head = _whole(path, number, fields[6], "a head, or -1 for the root", least=-1)
            if head >= 0 and not first <= head < first + len(own):
                raise line_error(path, number, f"the head {head} is in another sentence")
            heads.append(head - first if head >= 0 else -1)
        _, _, words, lemmas, upos, pos, _, relations = zip(
            *(fields for _, fields in own), strict=True
        )
        sentences.append(ParsedSentence(words, lemmas, upos, pos, tuple(heads), relations))
    return _Text(tuple(sentences), tuple(places))


def _read_mentions(
    path: Path, texts: Mapping[str, _Text]
) -> dict[str, dict[_Span, tuple[Mention, int]]]:
    """Of each document the mentions and their clusters, by span."""
    marked: dict[str, dict[_Span, tuple[Mention, int]]] = defaultdict(dict)
    for number, line in numbered_lines(path):
        name, _, *fields = _fields(path, number, line, 8)
        if name not in texts:
            raise line_error(path, number, f"document {name!r} has no words")
        places = texts[name].places
        first, last, head = (_whole(path, number, field, "a word") for field in fields[:3])
        if not first <= head <= last < len(places) or places[first][0] != places[last][0]:
            raise line_error(
                path,
                number,
                f"expected the first, last and head word of a mention in one sentence of "
                f"{name!r}, got {first}, {last} and {head}",
            )
        check_label(path, number, fields[3], GUM_KINDS)
        cluster = _whole(path, number, fields[5], "a cluster")
        sentence, start = places[first]
        span = _Span(sentence, start, places[last][1] + 1)
        if span in marked[name]:
            raise line_error(path, number, f"{name!r} has a mention of these words already")
        marked[name][span] = Mention(*span, kind=fields[3], head=places[head][1]), cluster
    return dict(marked)


def _reading_order(span: _Span) -> tuple[int, int, int]:
    return span.sentence, span.start, -span.stop


def _fields(path: Path, number: int, line: str, expected: int) -> list[str]:
    fields = line.split("\t")
    if len(fields) != expected:
        reason = f"expected {expected} columns, got {len(fields)} in {line!r}"
        raise line_error(path, number, reason)
    return fields


def _whole(path: Path, number: int, field: str, what: str, least: int = 0) -> int:
    try:
        value = int(field)
    except ValueError:
        value = least - 1
    if value < least:
        raise line_error(path, number, f"expected the number of {what}, got {field!r}")
    return value
