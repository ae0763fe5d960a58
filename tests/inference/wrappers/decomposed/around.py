"""Neighbourhoods by definition: all outputs, and those that differ inside one set."""

from tests.strategies import Best, Judge, known_value


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
    tie = 1e-10 * max([1.0, *(abs(float(score)) for score in scores)])
    top = max(one.value for one in valued)
    return next(one for one in valued if one.value >= top - tie)
