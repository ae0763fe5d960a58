"""Features of an entity, and of an ordered pair of entities, after Roth and Yih (2004).

They look at words, their shapes and tags, in the entities, between them and around them, and
at where entities stand; never at the labels of entities or at relations. Each row is computed
by itself, so that one can be had without the others. A row is a list of names; a name is
what kind of thing was seen, and what it was: "word=new york" is no feature, "word=york" is.
A pair's features that say where something stands carry the pair's order: ``>`` if its first
entity comes first in the sentence, and ``<`` otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from rote.data.conll04 import Entity, Sentence
from rote.features.templates import EDGE
from rote.features.words import is_symbol, short_shape

WINDOW = 3  # words on either side of an entity
NEAR = 4  # words between two entities that are also kept in their order
FAR = 12  # more words than this between two entities are counted as this many
MANY = 4  # the same for entities between them, and for words of an entity


def entity_features(sentence: Sentence, i: int) -> list[str]:
    """What entity ``i`` of a sentence looks like, and what stands around it."""
    entity = sentence.entities[i]
    words, pos = sentence.words, sentence.pos
    start, stop = entity.start, entity.stop
    own = words[start:stop]
    low = [word.lower() for word in own]
    shapes = [short_shape(word) for word in own]
    first, last = low[0], low[-1]
    row = [
        "bias",
        f"length={min(len(own), MANY)}",
        f"text={' '.join(low)}",
        f"first={first}",
        f"last={last}",
        f"shapes={' '.join(shapes[:MANY])}",
        f"tags={' '.join(pos[start:stop][:MANY])}",
        f"first shape={shapes[0]}",
        f"last shape={shapes[-1]}",
    ]
    row += _once(f"word={word}" for word in low)
    row += _once(f"shape={sign}" for sign in shapes)
    row += [f"words={a} {b}" for a, b in pairwise(low)]
    row += [f"last ends={last[-k:]}" for k in (2, 3, 4)]
    row += [f"last begins={last[:k]}" for k in (2, 3, 4)]
    row += [f"first ends={first[-k:]}" for k in (2, 3)]
    if all(word.isupper() for word in own):
        row.append("all capitals")
    if any(word.isdigit() for word in own):
        row.append("a number")
    if not any(word[:1].isupper() for word in own):
        row.append("no capital")
    if start == 0:
        row.append("at the start")
    for step in range(1, WINDOW + 1):
        before, after = _at(words, start - step), _at(words, stop + step - 1)
        row += [f"-{step}={before}", f"+{step}={after}", f"near={before}", f"near={after}"]
        row.append(f"tag-{step}={_at(pos, start - step)}")
        row.append(f"tag+{step}={_at(pos, stop + step - 1)}")
    row.append(f"-2-1={_at(words, start - 2)} {_at(words, start - 1)}")
    row.append(f"+1+2={_at(words, stop)} {_at(words, stop + 1)}")
    row.append(f"-1+1={_at(words, start - 1)} {_at(words, stop)}")
    row.append(f"-1 shape={_at(words, start - 1)} {shapes[0]}")
    row.append(f"+1 shape={_at(words, stop)} {shapes[-1]}")
    return row


def pair_features(sentence: Sentence, i: int, j: int) -> list[str]:
    """What stands between and around entities ``i`` and ``j``, and what they look like."""
    first, second = sentence.entities[i], sentence.entities[j]
    order = ">" if i < j else "<"
    left, right = (first, second) if i < j else (second, first)
    words, pos = sentence.words, sentence.pos
    between = [word.lower() for word in words[left.stop : right.start]]
    tags = pos[left.stop : right.start]
    before, after = _at(words, left.start - 1), _at(words, right.stop)
    distance, others = min(len(between), FAR), min(abs(i - j) - 1, MANY)
    signs = "".join(word for word in between if is_symbol(word) or word == "comma")
    ends = [words[entity.stop - 1].lower() for entity in (first, second)]
    outlines = [_outline(sentence, entity) for entity in (first, second)]

    seen = [
        f"distance={distance}",
        f"entities between={others}",
        f"signs={signs}",
        f"tags={' '.join(tags[:FAR])}",
        f"before={before}",
        f"after={after}",
        f"around={before} {after}",
        f"before before={_at(words, left.start - 2)} {before}",
        f"after after={after} {_at(words, right.stop + 1)}",
        f"tags around={_at(pos, left.start - 1)} {_at(pos, right.stop)}",
        f"outlines={outlines[0]} {outlines[1]}",
    ]
    if len(between) <= NEAR:
        seen.append(f"all={' '.join(between)}")
        seen.append(f"all between={outlines[0]} {' '.join(between)} {outlines[1]}")
    if between:
        seen += [f"first between={between[0]}", f"last between={between[-1]}"]
    seen += _once(f"between={word}" for word in between)
    seen += _once(f"words={a} {b}" for a, b in pairwise(between))
    seen += _once(f"verb={w}" for w, tag in zip(between, tags, strict=True) if tag.startswith("VB"))
    row = ["bias", f"bias{order}", f"one={ends[0]}", f"two={ends[1]}", f"ends={' '.join(ends)}"]
    row += [f"one looks={outlines[0]}", f"two looks={outlines[1]}"]
    row += seen
    row += [order + name for name in seen]
    return row


def _outline(sentence: Sentence, entity: Entity) -> str:
    """The shape and tag of an entity's last word, and how many words there are."""
    last = entity.stop - 1
    length = min(entity.stop - entity.start, MANY)
    return f"{short_shape(sentence.words[last])}/{sentence.pos[last]}/{length}"


def _once(names: Iterable[str]) -> list[str]:
    """Each name once, in the order of the sentence: a set would have another in every process."""
    return list(dict.fromkeys(names))


def _at(items: Sequence[str], place: int) -> str:
    return items[place].lower() if 0 <= place < len(items) else EDGE
