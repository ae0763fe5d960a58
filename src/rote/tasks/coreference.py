"""Coreference as left-linking trees: every mention is new, or is linked to an earlier mention.

An input is a `Document`, whose mentions stand in reading order; an output
is its clusters, as sets of mention numbers. Each mention is a variable, whose labels are "new" and
"k back" for the k-th mention before it. Each label has a feature vector of its own, that of the
pair it would make, and all share their weights. The clusters are what the links join.

Many trees have the same clusters. The right one links each mention to the closest candidate of its
cluster, as a reader would; a mention whose cluster has no candidate in sight counts as new.

Features are those of the usual mention-pair models: whether texts and heads match, how far apart
the two are, their forms (name, noun phrase, pronoun), kinds, numbers and genders. With entities,
what a mention has in common with all mentions linked before it is scored as well.

In JSON, a document is {"sentences": [["Ada", "lost", "her", "cat"], ...], "mentions": [{"sentence":
0, "start": 0, "stop": 1}, ...], "genre": "news"}; a mention may have a "kind", "form" and "head"
(see `Mention`), and a sentence may be an object of "words" and what else `ParsedSentence` has. An
output is a list of clusters, which are lists of mentions, counted from 0.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from rote.errors import DataError, LabelError
from rote.io.shapes import check_shape
from rote.settings import FLAG, Checked, whole
from rote.space import SpaceBuilder
from rote.space.compiled import keep_recent
from rote.space.global_features import ClusterAgreement
from rote.space.rule_text import Rules, Vocabulary
from rote.tasks.adapter import Adapter, Measured, register
from rote.tasks.bracketed import bracketed
from rote.tasks.task import Frame, Slot, Task
from rote.types import AnyArray

Clusters: TypeAlias = tuple[frozenset[int], ...]


NEW = "new"


LINK = "link"


MENTION = "mention"
MAX_MENTIONS = 300  # of one input of a service


NAME, NOUN, PRONOUN = "PROP", "NOM", "PRON"


STEPS = (0, 1, 2, 3, 4, 5, 8, 12, 16, 24, 32, 64)  # where a new bucket of counts begins


@dataclass(frozen=True)
class ParsedSentence:
    """Words and what is known of each; all but the words are empty where a corpus lacks them.

    Parameters
    ----------
    words, lemmas
        The words, and their dictionary forms.
    upos, pos
        Universal part-of-speech tags, and those of the corpus.
    heads, relations
        The head of each word, by its place in the sentence, -1 for the root; and the word's
        relation to it.
    """

    words: tuple[str, ...]
    lemmas: tuple[str, ...] = ()
    upos: tuple[str, ...] = ()
    pos: tuple[str, ...] = ()
    heads: tuple[int, ...] = ()
    relations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mention:
    """``words[start:stop]`` of one sentence, and what kind of thing they speak of.

    Parameters
    ----------
    sentence, start, stop
        The sentence, its first word of the mention, and the one behind the last.
    kind
        The type of entity, such as PER; may be empty.
    form
        PROP, NOM or PRON: a name, a noun phrase or a pronoun; if empty, it is guessed.
    head
        The place of its head word in the sentence; if -1, it is guessed.
    """

    sentence: int
    start: int
    stop: int
    kind: str
    form: str = ""
    head: int = -1


@dataclass(frozen=True)
class Document:
    """A text with its mentions.

    Parameters
    ----------
    name, genre
        What it is called, and its genre, which is a feature; both may be empty.
    sentences
        Its words.
    mentions
        In reading order, a longer one before those inside it.
    """

    name: str
    genre: str
    sentences: tuple[ParsedSentence, ...]
    mentions: tuple[Mention, ...]

    def text(self, mention: Mention) -> str:
        """The words of a mention."""
        return " ".join(self.sentences[mention.sentence].words[mention.start : mention.stop])


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _signs(**words: str) -> dict[str, str]:
    return {word: sign for sign, listed in words.items() for word in listed.split()}


# What words say of the gender, number and person of what they stand for, where they say it.
GENDERS = _signs(
    male="he him his himself mr mr. sir man boy father son brother uncle husband king lord "
    "gentleman lad fellow grandfather nephew prince monsieur",
    female="she her hers herself mrs mrs. miss ms ms. lady woman girl mother daughter sister aunt "
    "wife queen madam madame maid grandmother niece princess",
    thing="it its itself this that which",
)


NUMBERS = _signs(
    one="i me my mine myself he him his himself she her hers herself it its itself this that "
    "one each",
    many="we us our ours ourselves they them their theirs themselves these those many several "
    "both all two three four",
)


PERSONS = _signs(
    first="i me my mine myself we us our ours ourselves",
    second="you your yours yourself yourselves thou thee thy thine",
    third="he him his himself she her hers herself it its itself they them their theirs themselves",
)


OTHER_PRONOUNS = _words("this that these those who whom whose which what one each other another")


DEFINITE = _words("the this that these those my your his her its our their")


INDEFINITE = _words("a an some any another no every each")


# A noun phrase ends with its head, unless one of these opens what follows the head.
OPENERS = _words("of in on at to for from with by about who whom which that whose , ( -- and or")


@dataclass(frozen=True)
class Coreference(Checked, Task[Document, Clusters]):
    """Each mention is linked to a mention before it, or is new.

    Parameters
    ----------
    max_antecedents
        How many mentions back a link may reach, at least 1. Each of them costs a feature vector.
    entities
        Whether outputs have global features of whole entities: gender, number, kind and head, and
        how many mentions there are. They need an engine that searches, such as `RGS`.
    rules
        A text (`rote.space.rule_text`) about mention i, …, or a function that adds rules, given a
        builder and its variables.

    Examples
    --------
    >>> task = Coreference(max_antecedents=2)
    >>> document = Document("a", "news", (), (Mention(0, 0, 1, "person"),) * 4)
    >>> [variable.labels[1:] for variable in task.frame(document).space.variables]
    [(), ('1 back',), ('1 back', '2 back'), ('1 back', '2 back')]
    >>> task.encode(document, [{0, 3}, {1, 2}])
    [0, 0, 1, 0]
    """

    max_antecedents: int = 50
    entities: bool = False
    rules: Rules | None = None

    checks: ClassVar = {"max_antecedents": whole(1), "entities": FLAG}

    def __post_init__(self) -> None:
        super().__post_init__()
        _vocabulary(self.max_antecedents).check(self.rules)

    def frame(self, x: Document) -> Frame:
        if not self.entities:
            return _frame(len(x.mentions), self.max_antecedents, self.rules)
        described = [describe(x, mention) for mention in x.mentions]
        return _with_entities(self.max_antecedents, self.rules, entity_features(described))

    def vectors(self, x: Document) -> list[list[str]]:
        described = [describe(x, mention) for mention in x.mentions]
        vectors = []
        for i, mention in enumerate(described):
            before = described[max(0, i - self.max_antecedents) : i]
            vectors.append(new_features(mention, before, x.genre))
            vectors += [
                pair_features(other, mention, back, x.genre)
                for back, other in enumerate(reversed(before), start=1)
            ]
        return vectors

    def encode(self, x: Document, y: Collection[Collection[int]]) -> list[int]:
        home = _homes(y, len(x.mentions))
        latest: dict[int, int] = {}
        labels = []
        for i, cluster in enumerate(home):
            back = i - latest.get(cluster, i)
            labels.append(back if back <= self.max_antecedents else 0)
            latest[cluster] = i
        return labels

    def decode(self, x: Document, labels: Sequence[int]) -> Clusters:
        home: list[int] = []
        for i, back in enumerate(labels):
            home.append(home[i - back] if back else i)
        return clusters_of(home)


def clusters_of(numbers: Sequence[int] | AnyArray) -> Clusters:
    """Clusters as sets, from the number of each mention's cluster; the earliest come first.

    >>> [sorted(cluster) for cluster in clusters_of([7, 3, 7])]
    [[0, 2], [1]]
    """
    found: dict[int, set[int]] = {}
    for mention, number in enumerate(np.asarray(numbers).tolist()):
        found.setdefault(number, set()).add(mention)
    return tuple(frozenset(cluster) for cluster in found.values())


class Described(NamedTuple):
    """A mention as its features see it; an empty text stands for what is not known."""

    sentence: int
    start: int
    stop: int
    words: tuple[str, ...]  # in small letters
    text: str
    head: str
    form: str
    kind: str
    gender: str
    number: str
    person: str
    article: str  # definite, indefinite or empty


def pair_features(earlier: Described, later: Described, apart: int, genre: str) -> list[str]:
    """What is known of two mentions, the later one so many mentions after the earlier one."""
    forms = f"{earlier.form}-{later.form}"
    sentences = later.sentence - earlier.sentence
    near = f"{_bucket(sentences)} sentences"
    far = _bucket(apart)
    same_text = earlier.text == later.text
    same_head = earlier.head == later.head
    names = [
        f"forms {forms}",
        f"genre {genre} {later.form}",
        f"apart {far}",
        f"{later.form} apart {far}",
        f"{forms} {near}",
        f"kinds {earlier.kind}-{later.kind}",
        f"{forms} kinds {_agreement(earlier.kind, later.kind)}",
        f"{forms} gender {_agreement(earlier.gender, later.gender)}",
        f"{forms} number {_agreement(earlier.number, later.number)}",
        f"{forms} article {later.article}",
    ]
    if later.form == PRONOUN:
        names.append(f"{later.text} for {earlier.text if earlier.form == PRONOUN else forms}")
        names.append(f"{later.text} kind {earlier.kind} {near}")
        names.append(f"{later.form} person {_agreement(earlier.person, later.person)}")
    if same_text:
        names += [f"same text {forms}", f"same text {forms} {near}"]
    if same_head:
        names += [f"same head {forms}", f"same head {forms} article {later.article}"]
    elif PRONOUN not in (earlier.form, later.form):
        if earlier.head in later.words or later.head in earlier.words:
            names.append(f"head inside {forms}")
        if set(earlier.words) & set(later.words) - DEFINITE - INDEFINITE - OPENERS:
            names.append(f"words shared {forms}")
        names.append(f"other head {forms}")
    if sentences == 0 and later.stop <= earlier.stop:
        names.append(f"nested {forms}")
    return names


def new_features(mention: Described, before: Sequence[Described], genre: str) -> list[str]:
    """What is known of a mention that may be the first of its cluster."""
    names = [
        "new",
        f"new {mention.form}",
        f"new {mention.form} kind {mention.kind}",
        f"new {mention.form} article {mention.article}",
        f"new {mention.form} words {_bucket(len(mention.words))}",
        f"new {mention.form} genre {genre}",
        f"new {mention.form} candidates {_bucket(len(before))}",
    ]
    if mention.form == PRONOUN:
        names.append(f"new pronoun {mention.text}")
    elif any(other.text == mention.text for other in before):
        names.append(f"new {mention.form} text seen {mention.article}")
    elif any(other.head == mention.head for other in before):
        names.append(f"new {mention.form} head seen {mention.article}")
    else:
        names.append(f"new {mention.form} not seen {mention.article}")
    return names


def describe(document: Document, mention: Mention) -> Described:
    sentence = document.sentences[mention.sentence]
    written = sentence.words[mention.start : mention.stop]
    words = tuple(word.lower() for word in written)
    place = _head_place(words) if mention.head < 0 else mention.head - mention.start
    head = words[place]
    pronoun = len(words) == 1 and (head in PERSONS or head in OTHER_PRONOUNS)
    tag = sentence.upos[mention.start + place] if sentence.upos else ""
    if mention.form:
        form = mention.form
    elif pronoun or tag == "PRON":
        form = PRONOUN
    else:
        form = NAME if tag == "PROPN" or (not tag and written[place][:1].isupper()) else NOUN
    plural = form == NOUN and head.endswith("s") and not head.endswith("ss")
    opening = words[0]
    return Described(
        mention.sentence,
        mention.start,
        mention.stop,
        words,
        " ".join(words),
        head,
        form,
        mention.kind,
        GENDERS.get(head) or GENDERS.get(opening, "") if form != NOUN else GENDERS.get(head, ""),
        NUMBERS.get(head, "many" if plural else "one" if form != PRONOUN else ""),
        PERSONS.get(head, "") if form == PRONOUN else "third",
        "definite" if opening in DEFINITE else "indefinite" if opening in INDEFINITE else "",
    )


def _head_place(words: Sequence[str]) -> int:
    """Where the head stands: before what follows it, or at the end."""
    ends = (place for place, word in enumerate(words) if place and word in OPENERS)
    return next(ends, len(words)) - 1


def _agreement(one: str, other: str) -> str:
    if not one or not other:
        return "unknown"
    return "agree" if one == other else "differ"


def _bucket(count: int) -> str:
    """The largest step that is no more than the count."""
    return str(STEPS[bisect_right(STEPS, count) - 1])


def _homes(clusters: Collection[Collection[int]], mentions: int) -> list[int]:
    """The number of each mention's cluster; every mention is in one."""
    home = {mention: number for number, cluster in enumerate(clusters) for mention in cluster}
    if sum(map(len, clusters)) > len(home):
        every = [mention for cluster in clusters for mention in cluster]
        twice = next(mention for mention in every if every.count(mention) > 1)
        raise LabelError(f"mention {twice} is in two clusters; it can be in one only")
    stray = home.keys() - range(mentions)
    if stray:
        raise LabelError(f"a cluster holds mentions from 0 to {mentions - 1}, got {min(stray)!r}")
    alone = [mention for mention in range(mentions) if mention not in home]
    if alone:
        raise LabelError(
            f"mention {alone[0]} is in no cluster; one that stands alone is a cluster of one"
        )
    return [home[mention] for mention in range(mentions)]


def entity_features(mentions: Sequence[Described]) -> ClusterAgreement:
    """The attributes that mentions of an entity agree in, numbered as they occur."""
    numbers: list[dict[str, int]] = [{} for _ in range(4)]
    attributes = []
    for mention in mentions:
        head = "" if mention.form == PRONOUN else mention.head
        known = (mention.gender, mention.number, mention.kind, head)
        own = [
            seen.setdefault(value, len(seen) + 1) if value else 0
            for seen, value in zip(numbers, known, strict=True)
        ]
        attributes.append(tuple(own))
    forms = tuple((NAME, NOUN, PRONOUN).index(mention.form) for mention in mentions)
    return ClusterAgreement("entity", tuple(attributes), forms)


@keep_recent
def _with_entities(most: int, rules: Rules | None, global_features: ClusterAgreement) -> Frame:
    plain = _frame(len(global_features.forms), most, rules)
    return Frame(plain.space, plain.slots, plain.kinds, (global_features,))


@keep_recent
def _frame(mentions: int, most: int, rules: Rules | None) -> Frame:
    builder = SpaceBuilder()
    slots, variables = [], []
    vectors = 0
    for i in range(mentions):
        variables.append(builder.variable(str(i), _antecedents(min(i, most))))
        slots.append(Slot("antecedent", vectors, each=True))
        vectors += len(variables[-1].labels)
    places = {MENTION: {(i,): variable for i, variable in enumerate(variables)}}
    _vocabulary(most).require(builder, rules, variables, places)
    return Frame(builder.build(), tuple(slots), (LINK,) * vectors)


def _antecedents(most: int) -> tuple[str, ...]:
    return (NEW, *(f"{back} back" for back in range(1, 1 + most)))


def _vocabulary(most: int) -> Vocabulary:
    return Vocabulary({MENTION: (1, _antecedents(most))})


_DOCUMENT = {
    "sentences": [object],
    "mentions": [
        {"sentence": int, "start": int, "stop": int, "kind?": str, "form?": str, "head?": int}
    ],
    "name?": str,
    "genre?": str,
}
_SENTENCE = {"words": [str], "heads?": [int]}
_SENTENCE |= {f"{name}?": [str] for name in ("lemmas", "upos", "pos", "relations")}


def _document(_task: Coreference | None, value: Any) -> Document:
    check_shape("an input", value, _DOCUMENT)
    sentences = tuple(_sentence(k, each) for k, each in enumerate(value["sentences"]))
    mentions = [Mention(**{"kind": "", **each}) for each in value["mentions"]]
    for number, mention in enumerate(mentions):
        known = 0 <= mention.sentence < len(sentences)
        words = sentences[mention.sentence].words if known else ()
        ends = 0 <= mention.start < mention.stop <= len(words)
        if not ends or not (mention.head == -1 or mention.start <= mention.head < mention.stop):
            raise DataError(
                f"mention {number}: has words of its sentence, and its head is one of them"
            )
        if mention.form not in ("", NAME, NOUN, PRONOUN):
            raise DataError(f"mention {number}: form is {NAME}, {NOUN} or {PRONOUN}")
    if mentions != sorted(mentions, key=_reading_order):
        raise DataError("mentions are in reading order, a longer one before those inside it")
    named = value.get("name", ""), value.get("genre", "")
    return Document(*named, sentences, tuple(mentions))


def _sentence(number: int, value: Any) -> ParsedSentence:
    columns = {"words": value} if isinstance(value, list) else value
    check_shape(f"sentence {number}", columns, _SENTENCE)
    if len({len(column) for column in columns.values()}) > 1:
        raise DataError(f"sentence {number}: all of {', '.join(columns)} are as long as the words")
    return ParsedSentence(**{name: tuple(column) for name, column in columns.items()})


def _reading_order(mention: Mention) -> tuple[int, int, int]:
    return mention.sentence, mention.start, -mention.stop


def _typed(_task: Coreference, text: str) -> Document:
    """One sentence a line, mentions in brackets."""
    sentences: list[ParsedSentence] = []
    mentions: list[Mention] = []
    for line in filter(str.strip, text.splitlines()):
        words, spans = (
            bracketed(line, "mentions", nested=True) if "[" in line else (line.split(), [])
        )
        mentions += [Mention(len(sentences), start, stop, "") for start, stop in spans]
        sentences.append(ParsedSentence(tuple(words)))
    if not all(mention.start < mention.stop for mention in mentions):
        raise DataError("a mention has a word at least; put brackets around words")
    return Document("", "", tuple(sentences), tuple(mentions))


def _clusters(_x: Document, value: Any) -> Clusters:
    return tuple(frozenset(cluster) for cluster in check_shape('"y"', value, [[int]]))


def _measure(_task: Coreference, gold: Sequence[Any], found: Sequence[Any]) -> Measured:
    from rote.metrics.coreference import coreference_scores

    scores = coreference_scores(gold, found)
    return {
        "CoNLL F1": scores.conll,
        "MUC F1": scores.muc.f1,
        "B-cubed F1": scores.b_cubed.f1,
        "CEAF F1": scores.ceaf_e.f1,
    }, {}


register(
    Adapter(
        "coreference",
        Coreference,
        from_json=_document,
        output_from_json=_clusters,
        to_json=lambda _task, _x, y: [sorted(cluster) for cluster in y],
        settings=("max_antecedents",),
        build=lambda _, settings: Coreference(**settings),
        typed=_typed,
        hint=lambda _: "A sentence per line, blanks between words, every mention in brackets.",
        example=lambda _: "[Ada] lost [[her] cat] .\n[She] found [it] in [the garden] .",
        limits=((f"{MENTION}s", lambda x: len(x.mentions), MAX_MENTIONS),),
        measure=_measure,
    )
)
