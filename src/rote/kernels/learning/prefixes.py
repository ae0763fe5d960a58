"""Which prefix of a wrong output to learn from; see `rote.learning.perceptron`."""

from __future__ import annotations

from rote.kernels.jit import kernel
from rote.types import FloatArray, IntArray


@kernel
def wrong_prefix(
    scores: FloatArray,
    starts: IntArray,
    ends: IntArray,
    gold: IntArray,
    found: IntArray,
    early: bool,
) -> IntArray:
    """``found`` inside the prefix to learn from, and ``gold`` elsewhere.

    ``ends`` says for each slot the last variable it speaks of; a prefix of k variables has the
    slots that end before k. ``early`` takes the first prefix with wrong labels whose lead over
    gold is not negative, otherwise the one with the largest lead, the shortest of equals. Where
    no prefix leads, gold comes back whole.
    """
    variables = 0
    for s in range(ends.shape[0]):
        variables = max(variables, ends[s] + 1)
    chosen, lead, most = -1, 0.0, -1.0
    differs = False
    for last in range(variables):
        for s in range(ends.shape[0]):
            if ends[s] == last and gold[s] != found[s]:
                lead += scores[starts[s] + found[s]] - scores[starts[s] + gold[s]]
                differs = True
        if differs and lead >= 0.0 and lead > most:
            chosen, most = last, lead
            if early:
                break
    result = gold.copy()
    for s in range(ends.shape[0]):
        if ends[s] <= chosen:
            result[s] = found[s]
    return result
