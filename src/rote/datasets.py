"""Entities and relations in made-up English sentences, for when there is no corpus at hand.

The sentences are values of the same kind as those of the entity-relation corpus, and their
relations obey its argument types. Names are shared between persons, places and organisations
on purpose, and so are the small words between them: in "Jordan of Lincoln" each may be several
things, and what "of" means hangs on both. What tells them apart is often at only one of
the two names, or far from both, so a decision by itself is often wrong where decisions that
must agree are right.

A sentence is one to three clauses, each from a template, with two to six entities in all.
Entities of one clause are related as its template says; those of different clauses never.

A template is a line of words. ``Peop``, ``Loc``, ``Org``, ``Other`` and ``Nation`` (labelled
Other) stand for an entity, ``a|b`` for one of these words, ``#`` for a number, ``~`` for an
aside or nothing, and other capitals for one of `PHRASES`. A word's tag is in `TAGS`, or behind
it as in ``shot/VBN``. After ``=`` come relations, each with the places of its two entities
in the template, counted from 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np

from rote.errors import SettingError
from rote.io.conll import ENTITIES, Entity, Relation, Sentence

Item = TypeVar("Item")

FEWEST_ENTITIES, MOST_ENTITIES = 2, 6
BARE_NAME = 0.5  # how often an entity is a name that other kinds of entities share
INTRODUCED = 0.12  # how often a word before a name says what it is
HEDGED = 0.2  # how often words before a name say nothing
ASIDE = 0.6  # how often something stands where a template allows an aside
OPENING = 0.35  # how often words stand before the first clause
CLAUSES = (0.3, 0.45, 0.25)  # how often a sentence has one, two, three

KINDS: Mapping[str, str] = MappingProxyType(
    {**{label: label for label in ENTITIES}, "Nation": "Other"}  # in a template, and its label
)

# Names, by the kinds of entities they may be.
SHARED_NAMES: Mapping[tuple[str, ...], str] = MappingProxyType(
    {
        ("Peop", "Loc", "Org"): (
            "Washington Lincoln Jordan Madison Houston Austin Chelsea Jackson Cleveland Hamilton "
            "Wellington Nelson Sheffield Preston Stanford Dallas Bristol Berkeley Lancaster "
            "Warwick Burlington Marshall Monroe Clinton Hershey Brandeis Rutherford Stratford "
            "Carlisle Harrison Lansing Norfolk Kent Windsor Cornell Bradford Garrison Winston"
        ),
        ("Peop", "Loc"): (
            "Sydney Florence Georgia Brooklyn Charlotte Savannah Kingston Saint_Paul Vernon "
            "Trenton Adelaide Chester Santiago Virginia Carolina San_Martin Israel Alexandria "
            "Lourdes Valencia Columbus Bolivar"
        ),
        ("Peop", "Org"): (
            "Ford Disney Morgan Hughes Chase Dell Siemens Porsche Heinz Hilton Kellogg Ferrari "
            "Lloyd Barclay Merrill Guinness Wells Macy Hewlett Bloomberg"
        ),
        ("Loc", "Org"): (
            "Phoenix Everton Amazon Boston Liverpool Barcelona Santa_Fe Orlando Newcastle Porto "
            "Brussels Corning Santa_Clara Seattle Naples Bangor"
        ),
        ("Loc", "Other"): "Waterloo Bordeaux Champagne Woodstock Yalta Gettysburg Kyoto",
        ("Peop", "Other"): "Hamlet Oscar Katrina Mercedes Apollo Elektra",
        ("Org", "Other"): "Titan Mustang Polaris Odyssey Concorde Explorer",
    }
)
FIRST_NAMES = (
    "Maria John Anna Peter Ruth Samuel Helen Omar Grace Victor Nadia Paul Irene Hugo Clara Ivan "
    "Rose Martin Leila Frank Dora Simon Yuri Alice"
)
# Names that say what they are; a * is a shared name.
TELLING_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Loc": ("Lake *", "Port *", "New *", "* County", "* Falls", "West *", "Mount *"),
        "Org": ("* Corp.", "* Motors", "* University", "* Bank", "* & Sons", "* Airlines", "FC *"),
        "Other": (
            "World Cup",
            "Clean Rivers Act",
            "Cold War",
            "Pulitzer Prize",
            "* Prize",
            "* Treaty",
            "* Act",
            "Battle of *",
            "Bible",
            "Model 40",
            "Easter Parade",
        ),
        "Nation": ("Danish", "Cuban", "Norwegian", "Kenyan", "Irish", "Texan"),
    }
)
INTRODUCTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Peop": ("Mr.", "Mrs.", "Judge", "Mayor", "Dr.", "someone called", "the late"),
        "Loc": ("the town of", "the port of", "downtown", "northern", "nearby"),
        "Org": ("the carmaker", "the publisher", "the club", "rival", "the lender"),
        "Other": ("the", "the old", "the first"),
        "Nation": ("several", "some"),
    }
)
# Words before a name that say nothing, and hide what would.
HEDGES = ("none other than", "what many call", "the now famous", "the less known")
PHRASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ASIDE": (
            ", it was said TIME ,",
            ", according to a long report on the case ,",
            ", as the paper wrote TIME ,",
            ", to the surprise of many people ,",
            ", after more than three|ten|forty years ,",
            ", if the letters can be believed ,",
            ", court papers show ,",
            ", once again ,",
        ),
        "TIME": (
            "on Monday|Tuesday|Thursday|Friday|Sunday",
            "last week|month|spring|year",
            "in 1921|1944|1968|1983|1997|2004",
            "in early|late March|June|October",
            "two|three|four|ten years|days|weeks ago",
            "at dawn|noon|night",
        ),
        # What anybody does: a person, a place or an organisation.
        "DOES": (
            "said the talks|plans would go on",
            "won # votes|dollars TIME",
            "faces a lawsuit over taxes|land|noise",
            "refused to comment TIME",
            "agreed to pay # dollars",
            "lost a long fight over water|taxes|oil",
            "asked for more time|money|help",
            "was under pressure TIME",
            "was praised/VBN by critics|visitors TIME",
            "made the news TIME",
            "owes # dollars to a fund",
        ),
        "PERSON-DOES": (
            "resigned TIME",
            "told the truth TIME",
            "is 34|47|58|71 years old",
            "wept as the verdict was read/VBN",
            "wrote # books|poems",
        ),
        "ORG-DOES": (
            "cut # jobs TIME",
            "reported a profit|loss of # dollars",
            "sells tractors|insurance|shoes",
            "bought # trucks TIME",
        ),
        "PLACE-DOES": (
            "has # residents|churches",
            "was flooded/VBN TIME",
            "lies under snow",
            "is known/VBN for its wine|bridges",
        ),
    }
)
OPENINGS = (
    "TIME ,",
    "according to the radio ,",
    "in a letter of # pages ,",
    "officials say that",
    "it seems that",
    "as many had feared ,",
    "critics noted TIME that",
)
JOINS = (", and", "; meanwhile ,", ", while", ", but", ";", ", although")
TEMPLATES = """
Peop ~ shot|killed|murdered|stabbed Peop TIME = Kill 0 1
Peop ~ was shot|killed|murdered|stabbed/VBN by Peop TIME = Kill 1 0
the man who shot|killed|poisoned Peop ~ was named/VBN as Peop = Kill 1 0
Peop ~ confessed to the killing|murder|shooting of Peop = Kill 0 1
Peop ~ was convicted of killing|murdering/VBG Peop in Loc = Kill 0 1
the death of Peop ~ was blamed/VBN on Peop = Kill 1 0
the murder|killing|shooting of Peop by Peop shocked Loc = Kill 1 0
Peop , the killer|assassin of Peop , was moved/VBN to Loc = Kill 0 1
police|investigators in Loc say Peop ~ strangled Peop = Kill 1 2
Peop ~ fired the shots that hit Peop TIME = Kill 0 1
a jury found that Peop ~ had poisoned/VBN Peop = Kill 0 1
Peop died from a bullet that ~ Peop fired TIME = Kill 1 0
Peop ~ shot a film|documentary about Peop TIME
Peop ~ shot a film|documentary about Org TIME
Peop ~ was shot|painted/VBN by Peop for Other
Peop ~ shot past Peop in the polls
Org ~ shot past Org in the rankings
Peop ~ was beaten|replaced/VBN by Peop TIME
Org ~ was beaten|bought/VBN by Org TIME
Org ~ killed|dropped a deal with Org TIME
Peop ~ shot|killed # birds near Loc
the death of Peop ~ was reported/VBN by Org
Peop ~ met|hugged|sued Peop TIME
Peop ~ lives|lived in Loc = Live_In 0 1
Peop ~ grew up in Loc = Live_In 0 1
Peop ~ was raised/VBN in Loc = Live_In 0 1
Peop ~ has a house|farm|flat in Loc = Live_In 0 1
Peop of Loc DOES = Live_In 0 1
Peop of Loc ~ PERSON-DOES = Live_In 0 1
Peop from Loc DOES = Live_In 0 1
Peop ~ from Loc ~ DOES = Live_In 0 1
Peop in Loc DOES = Live_In 0 1
Peop ( Loc ) DOES = Live_In 0 1
Peop , Loc , DOES = Live_In 0 1
Loc 's Peop DOES = Live_In 1 0
Loc 's Peop ~ PERSON-DOES = Live_In 1 0
Peop , a resident|native of Loc , DOES = Live_In 0 1
the Loc home|house|farm of Peop ~ burned down TIME = Live_In 1 0
Peop ~ moved to Loc with Peop = Live_In 0 1; Live_In 2 1
Peop ~ spoke|slept|arrived in Loc TIME
Peop ~ met|beat Peop in Loc
Peop ~ won Other in Loc TIME
Peop ~ works|worked for Org = Work_For 0 1
Peop ~ has a job|desk|contract at Org = Work_For 0 1
Peop of Org DOES = Work_For 0 1
Peop of Org ~ PERSON-DOES = Work_For 0 1
Peop from Org DOES = Work_For 0 1
Peop ~ from Org ~ DOES = Work_For 0 1
Peop at Org DOES = Work_For 0 1
Peop ( Org ) DOES = Work_For 0 1
Peop , Org , DOES = Work_For 0 1
Org 's Peop DOES = Work_For 1 0
Org 's Peop ~ PERSON-DOES = Work_For 1 0
Peop , a director|manager|partner of Org , DOES = Work_For 0 1
the Org contract|job of Peop ~ ended TIME = Work_For 1 0
Peop ~ moved to Org with Peop = Work_For 0 1; Work_For 2 1
Peop ~ left Org for Org = Work_For 0 2
Org ~ sued|praised|accused Peop TIME
Peop ~ bought shares in Org TIME
Peop ~ spoke at Org in Loc = OrgBased_In 1 2
Org of Loc DOES = OrgBased_In 0 1
Org of Loc ~ ORG-DOES = OrgBased_In 0 1
Org from Loc DOES = OrgBased_In 0 1
Org ~ from Loc ~ DOES = OrgBased_In 0 1
Org in Loc DOES = OrgBased_In 0 1
Org ( Loc ) DOES = OrgBased_In 0 1
Org , Loc , DOES = OrgBased_In 0 1
Loc 's Org DOES = OrgBased_In 1 0
Loc 's Org ~ ORG-DOES = OrgBased_In 1 0
Org , based in Loc , DOES = OrgBased_In 0 1
Org ~ has its headquarters|office in Loc = OrgBased_In 0 1
the Loc office|plant|stadium of Org ~ closed TIME = OrgBased_In 1 0
Org ~ moved to Loc TIME = OrgBased_In 0 1
Org ~ sold|shipped # trucks to Loc
Org ~ lost to Org in Loc
Loc in Loc DOES = Located_In 0 1
Loc in Loc ~ PLACE-DOES = Located_In 0 1
Loc ( Loc ) DOES = Located_In 0 1
Loc , Loc , DOES = Located_In 0 1
Loc 's Loc DOES = Located_In 1 0
Loc 's Loc ~ PLACE-DOES = Located_In 1 0
Loc ~ lies in the north|south of Loc = Located_In 0 1
the Loc district|quarter of Loc ~ was sealed/VBN off = Located_In 0 1
Peop ~ was seen/VBN in Loc , Loc , TIME = Located_In 1 2
the road|railway from Loc ~ to Loc was closed/VBN TIME
Loc ~ beat|sued Loc over water rights
Peop of Org in Loc DOES = Work_For 0 1; OrgBased_In 1 2
Org 's Peop ~ moved to Loc = Work_For 1 0; Live_In 1 2
Peop from Loc ~ shot|killed Peop = Live_In 0 1; Kill 0 2
Peop ~ shot|killed Peop of Loc = Kill 0 1; Live_In 1 2
Peop ~ shot|killed Peop of Org = Kill 0 1; Work_For 1 2
Peop of Other fame DOES
Peop 's Other DOES
Nation police|troops arrested|questioned Peop in Loc
the Nation singer|writer Peop ~ moved to Loc = Live_In 1 2
the Nation bank|airline Org ~ opened an office in Loc = OrgBased_In 1 2
Nation troops|tourists came from Loc TIME
Org ~ hired|trained # Nation workers|drivers
Peop ~ shot|killed # Nation troops|tourists
Org 's Other DOES
Other in Loc DOES
Other from Org DOES
Other ( Org ) DOES
Other of Peop ~ was sold/VBN to Org
Peop ~ read|studied|signed Other in Loc
Org ~ built|sold|signed Other TIME
Peop DOES
Org ~ ORG-DOES
Loc ~ PLACE-DOES
Peop ~ PERSON-DOES
"""
TAGS = """
CC: and but &
CD: 1921 1944 1968 1983 1997 2004 34 47 58 71 40 two three four ten forty
DT: the a an some
IN: of in from by at on for with to over under about after as if near past while although than
IN: that once
JJ: several other famous less late early old first northern nearby last many long more rival known
MD: would can
NN: man killing murder shooting death killer assassin jury bullet film documentary deal house farm
NN: flat resident native home job desk contract director manager partner headquarters office plant
NN: stadium north south district quarter road railway water fame week month spring year dawn noon
NN: night lawsuit land noise time money help pressure news fund truth verdict profit
NN: loss insurance snow wine radio letter case report paper surprise court town port carmaker
NN: someone publisher singer writer bank airline none club lender police oil fight downtown
NNS: shots polls rankings birds shares trucks rights years days weeks talks plans votes dollars
NNS: taxes critics visitors books poems jobs tractors shoes residents churches bridges pages
NNS: officials people letters papers investigators
NNP: Monday Tuesday Thursday Friday Sunday March June October Mr. Mrs. Judge Mayor Dr.
POS: 's
NNS: troops tourists workers drivers
PRP: it
PRP$: its
RB: now ago again meanwhile down up off
VB: go pay be comment
VBD: shot killed murdered stabbed was poisoned confessed strangled fired hit had found died dropped
VBD: met hugged sued lived grew moved burned spoke slept arrived beat won worked left praised
VBD: accused bought closed ended sold shipped lost said refused agreed asked made resigned told wept
VBD: wrote arrested questioned opened came hired trained cut reported built read studied signed
VBD: feared noted shocked
VBG: according
VBN: based called convicted believed
VBP: say show call
VBZ: lives works has lies faces is owes sells seems
WP: who what
,: ,
:: ;
(: (
): )
.: .
"""


class _Template(NamedTuple):
    pieces: tuple[str, ...]
    relations: tuple[Relation, ...]
    entities: int


def english_sentences(count: int, seed: int) -> tuple[Sentence, ...]:
    """That many sentences; the same seed gives the same ones, and more of them when asked.

    >>> only = english_sentences(1, seed=8)[0]
    >>> " ".join(only.words[:9])
    'It seems that Porsche , to the surprise of'
    >>> [(only.text(entity), entity.label) for entity in only.entities]
    [('Porsche', 'Peop'), ('Saint Paul', 'Loc'), ('Dallas', 'Loc')]
    """
    if count < 0:
        raise SettingError(f"count is how many sentences to make, 0 or more; got {count}")
    rng = np.random.default_rng(seed)
    return tuple(_sentence(rng, number) for number in range(count))


def _sentence(rng: np.random.Generator, number: int) -> Sentence:
    templates = _templates()
    while True:
        clauses = 1 + int(rng.choice(len(CLAUSES), p=CLAUSES))
        chosen = [_pick(rng, templates) for _ in range(clauses)]
        if FEWEST_ENTITIES <= sum(template.entities for template in chosen) <= MOST_ENTITIES:
            break
    writer = _Writer(rng)
    if rng.random() < OPENING:
        writer.write(_pick(rng, OPENINGS).split())
    for place, template in enumerate(chosen):
        if place:
            writer.write(_pick(rng, JOINS).split())
        before = len(writer.entities)
        writer.write(template.pieces)
        writer.relations += [
            Relation(r.first + before, r.second + before, r.label) for r in template.relations
        ]
    writer.write(".")
    return writer.sentence(number)


class _Writer:
    """The words of one sentence as they are written, and what is known of them."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.words: list[str] = []
        self.pos: list[str] = []
        self.entities: list[Entity] = []
        self.relations: list[Relation] = []
        self.names: set[str] = set()

    def write(self, pieces: Sequence[str]) -> None:
        for piece in pieces:
            if piece in KINDS:
                self.write_entity(piece)
            elif piece in PHRASES:
                self.write(_pick(self.rng, PHRASES[piece]).split())
            elif piece == "~":
                if self.rng.random() < ASIDE:
                    self.write(_pick(self.rng, PHRASES["ASIDE"]).split())
            elif piece == "#":
                self.add(str(self.rng.integers(2, 10 ** self.rng.integers(2, 5))), "CD")
            else:
                forms, _, tag = piece.partition("/")
                word = _pick(self.rng, forms.split("|"))
                self.add(word, tag or _tags()[word])

    def write_entity(self, kind: str) -> None:
        drawn = self.rng.random()
        if drawn < INTRODUCED:
            self.write(_pick(self.rng, INTRODUCTIONS[kind]).split())
        elif drawn < INTRODUCED + HEDGED and kind != "Nation":
            self.write(_pick(self.rng, HEDGES).split())
        name = _name(self.rng, kind)
        while name in self.names:  # no two entities of a sentence have the same name
            name = _name(self.rng, kind)
        self.names.add(name)
        start = len(self.words)
        for word in name.split():
            self.add(word, "JJ" if kind == "Nation" else _tags().get(word, "NNP"))
        self.entities.append(Entity(start, len(self.words), KINDS[kind]))

    def add(self, word: str, tag: str) -> None:
        starts = not self.words and word.islower()
        self.words.append(word.capitalize() if starts else word)
        self.pos.append(tag)

    def sentence(self, number: int) -> Sentence:
        return Sentence(
            number,
            tuple(self.words),
            tuple(self.pos),
            tuple(self.entities),
            tuple(self.relations),
        )


def _name(rng: np.random.Generator, kind: str) -> str:
    if kind == "Nation":
        return _pick(rng, TELLING_NAMES[kind])
    shared = _pick(rng, _shared_names()[kind])
    if rng.random() < BARE_NAME:
        return shared
    if kind == "Peop":
        return f"{_pick(rng, FIRST_NAMES.split())} {shared}"
    return _pick(rng, TELLING_NAMES[kind]).replace("*", shared)


def _pick(rng: np.random.Generator, items: Sequence[Item]) -> Item:
    return items[int(rng.integers(len(items)))]


@cache
def _shared_names() -> Mapping[str, tuple[str, ...]]:
    return {
        label: tuple(
            name.replace("_", " ")
            for kinds, names in SHARED_NAMES.items()
            if label in kinds
            for name in names.split()
        )
        for label in ENTITIES
    }


@cache
def _templates() -> tuple[_Template, ...]:
    return tuple(_parsed(line) for line in TEMPLATES.strip().splitlines())


def _parsed(line: str) -> _Template:
    text, _, related = line.partition(" =")
    pieces = tuple(text.split())
    relations = []
    for relation in related.split(";"):
        if relation.strip():
            label, first, second = relation.split()
            relations.append(Relation(int(first), int(second), label))
    return _Template(pieces, tuple(relations), sum(piece in KINDS for piece in pieces))


@cache
def _tags() -> Mapping[str, str]:
    known: dict[str, str] = {}
    for line in TAGS.strip().splitlines():
        tag, _, words = line.rpartition(": ")
        known |= dict.fromkeys(words.split(), tag)
    return known
