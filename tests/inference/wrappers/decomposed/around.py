"""Neighbourhoods by definition: all outputs, and those that differ inside one set."""

from __future__ import annotations

from tests.strategies import Best, Judge, first_within_a_tie, known_value


def neighbourhood(space, gold, sets, allowed=None):
    """The possible outputs that differ from gold inside one of the sets."""
    found = []
    for labels in Judge(space).open_outputs(allowed):
        differ = {j for j, (a, b) in enumerate(zip(labels, gold, strict=True)) if a != b}
        if not differ or any(differ <= set(one) for one in sets):
            found.append(labels)
    return found


def best_around(space, scores, gold, sets, allowed=None):
    """The first in lexicographic order within one tie of the best, or None."""
    valued = [
        Best(labels, known_value(space, scores, labels))
        for labels in neighbourhood(space, gold, sets, allowed)
    ]
    if not valued:
        return None
    return first_within_a_tie(space, scores, valued, allowed)
