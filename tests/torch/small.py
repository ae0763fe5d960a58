"""Small data for networks, made up: words whose label hangs on their neighbours, and images."""

import numpy as np

LABELS = ("D", "N", "V")


def sentences(count, seed=0):
    """A noun, then a verb, then perhaps more of both; "saw" and "run" may be either."""
    rng = np.random.default_rng(seed)
    words = {"D": ["the", "A"], "N": ["Dog", "saw", "run"], "V": ["sees", "saw", "run"]}
    xs, ys = [], []
    for _ in range(count):
        y = []
        while len(y) < int(rng.integers(2, 6)):
            y += ["D", "N", "V"][int(rng.integers(2)) :]
        xs.append([str(rng.choice(words[label])) for label in y])
        ys.append(tuple(y))
    return xs, ys


def vectors(count, seed=0, width=4):
    """Sequences of vectors, each near that of its label."""
    rng = np.random.default_rng(seed)
    centres = 2.0 * np.eye(3, width)
    ys = [rng.integers(3, size=rng.integers(1, 4)) for _ in range(count)]
    xs = [centres[y] + 0.2 * rng.normal(size=(len(y), width)) for y in ys]
    return xs, [tuple(LABELS[label] for label in y) for y in ys]


def bars(count, seed=0, shape=(4, 6)):
    """Images of a bar that lies or stands, somewhere; their labels are "-" and "|"."""
    rng = np.random.default_rng(seed)
    xs, ys = [], []
    for _ in range(count):
        y = rng.integers(2, size=rng.integers(1, 4))
        images = np.zeros((len(y), *shape), dtype=np.uint8)
        for image, standing in zip(images, y, strict=True):
            if standing:
                image[:, rng.integers(shape[1])] = 1
            else:
                image[rng.integers(shape[0]), :] = 1
        xs.append(images.reshape(len(y), -1))
        ys.append(tuple("-|"[label] for label in y))
    return xs, ys


def accuracy(found, ys):
    right = sum(
        a == b for y, own in zip(found, ys, strict=True) for a, b in zip(y, own, strict=True)
    )
    return right / sum(map(len, ys))
