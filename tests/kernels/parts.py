"""Random feature vectors and slots for kernels, and what they mean in plain words."""

import numpy as np

from rote.kernels.bundles import Slots, VariableSets, Vectors
from rote.types import readonly


def whole(numbers):
    return readonly(np.array(numbers, dtype=np.int64))


def around_of(lists, most=1 << 62):
    """Sets of each input as kernels take them."""
    counts = [len(sets) for sets in lists]
    end = np.cumsum(counts)
    sizes = [len(one) for sets in lists for one in sets]
    return VariableSets(
        whole(end - counts),
        whole(end),
        whole(np.concatenate([[0], np.cumsum(sizes)])),
        whole([j for sets in lists for one in sets for j in one]),
        most,
    )


# Of labels that do not have each a column of its own.
COLUMNS = [0, 1, 1, 0]  # of the labels of a pair


def random_parts(seed, inputs=3, per_input=3, features=5):
    """Vectors of a few inputs, the slots of their space, firsts, and how many weights there are.

    Some vectors are empty, some name a feature twice, some slots use the constant vector, some
    share their weights, the labels of some share columns, and those of one have a vector each.
    There are two matrices of weights, one behind the other: that of the constant vector and that
    of all others.
    """
    rng = np.random.default_rng(seed)
    columns, values = [np.zeros(1, np.int64)], [np.ones(1)]
    for _ in range(inputs * per_input):
        count = int(rng.integers(0, 4))
        columns.append(rng.integers(features, size=count))
        values.append(rng.integers(-2, 3, size=count) + 0.5 * rng.integers(0, 2, size=count))
    vectors = Vectors(
        whole(np.cumsum([0, *map(len, columns)])),
        whole(np.concatenate(columns)),
        readonly(np.concatenate(values).astype(np.float64)),
    )
    widths = {"tag": 3, "flag": 2, "link": per_input, "pair": 4, "bias": 2}
    origin = {"pair": 0, "bias": 4, "tag": 6, "flag": 9, "link": 11}
    stride = {"pair": 6, "bias": 6, "tag": 6, "flag": 6, "link": 6}
    names = [*(["tag", "flag"][int(rng.integers(2))] for _ in range(3)), "link"]
    names += [["pair", "bias"][int(rng.integers(2))] for _ in range(2)]
    own = [*(int(rng.integers(per_input)) for _ in range(3)), 0, -1, -1]
    slots = Slots(
        whole(own),
        whole([origin[name] for name in names]),
        whole([stride[name] for name in names]),
        readonly(np.array([name == "link" for name in names])),
        whole([0 if name == "pair" else -1 for name in names]),
        whole(np.cumsum([0, *(widths[name] for name in names)])),
        whole(COLUMNS),
    )
    firsts = whole(1 + per_input * rng.permutation(inputs))
    return vectors, slots, firsts, 6 + 6 * features


def random_columns(rng, slots, inputs):
    """A label for each slot of each input."""
    return whole([[rng.integers(width) for width in np.diff(slots.start)] for _ in range(inputs)])


def entries(vectors, v):
    """The features of a vector, repeats added up."""
    found = {}
    for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
        column = int(vectors.column[k])
        found[column] = found.get(column, 0.0) + float(vectors.value[k])
    return found


def phi(vectors, slots, first, chosen, size):
    """φ(x, y) of one input as a dense array: for each slot its vector, at the chosen label."""
    dense = np.zeros(size)
    for s, label in enumerate(map(int, chosen)):
        own = int(slots.vector[s])
        v = 0 if own < 0 else int(first) + own
        if slots.each[s]:
            v += label
        column_of_label = int(slots.column[label]) if slots.tied[s] >= 0 else label
        if slots.each[s]:
            column_of_label = 0
        for column, value in entries(vectors, v).items():
            dense[int(slots.origin[s]) + column * int(slots.stride[s]) + column_of_label] += value
    return dense
