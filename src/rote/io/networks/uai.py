"""The UAI format: a Markov or Bayesian network as a list of tables.

A file is a sequence of words; line ends mean nothing:

    MARKOV (or BAYES)
    number of variables, then the number of labels of each
    number of tables, then for each its arity and its variables
    for each table the number of its entries and the entries, last variable fastest

An evidence file gives labels to variables: a count, then that many pairs of
variable and label. An older version puts the number of samples, 1, before the count.
"""

from __future__ import annotations

from pathlib import Path

from rote.io.networks.table import (
    MAX_LABELS,
    CostNetwork,
    check_scope,
    check_shape,
    probability_network,
)
from rote.io.text import Words, read_text

PREAMBLES = ("MARKOV", "BAYES")


def read_uai(
    path: str | Path, evidence: str | Path | None = None, text: str | None = None
) -> CostNetwork:
    """The network of a UAI file, with the labels that an evidence file gives."""
    words = Words(Path(path), read_text(Path(path)) if text is None else text)
    preamble = words.take("MARKOV or BAYES")
    if preamble.upper() not in PREAMBLES:
        raise words.error(f"expected MARKOV or BAYES, got {preamble!r}; is this a UAI file?")
    n = words.whole("the number of variables")
    sizes = words.wholes(n, "a variable's number of labels", least=1, most=MAX_LABELS)
    count = words.whole("the number of tables")
    scopes = []
    for _ in range(count):
        arity = words.whole("the arity of a table", most=n)
        scope = words.wholes(arity, "the index of a variable", most=n - 1)
        scopes.append(check_scope(words, scope))
    tables = []
    for t, over in enumerate(scopes):
        shape = tuple(sizes[j] for j in over)
        entries = check_shape(words, shape)
        given = words.whole(f"the number of entries of table {t}")
        if given != entries:
            raise words.error(
                f"table {t} is over variables with {list(shape)} labels and has {entries} "
                f"entries, got a count of {given}"
            )
        values = words.numbers(entries, f"an entry of table {t}")
        if (values < 0).any():
            k = int((values < 0).argmax())
            raise words.error(f"a probability is not negative, got {values[k]}", entries - k)
        tables.append(values.reshape(shape))
    words.end()
    given_labels = [] if evidence is None else _read_evidence(Path(evidence), sizes)
    return probability_network(Path(path), sizes, scopes, tables, given_labels)


def _read_evidence(path: Path, sizes: list[int]) -> list[tuple[int, int]]:
    words = Words(path, read_text(path))
    if not words.left:
        return []
    # The count of pairs makes the number of words odd; the older version has one word more.
    if words.left % 2 == 0:
        words.whole("the number of samples (one is read)", least=1, most=1)
    pairs = {}
    for _ in range(words.whole("the number of variables with evidence")):
        variable = words.whole("the index of a variable", most=len(sizes) - 1)
        if variable in pairs:
            raise words.error(f"variable {variable} has evidence already")
        pairs[variable] = words.whole("the index of a label", most=sizes[variable] - 1)
    words.end()
    return list(pairs.items())
