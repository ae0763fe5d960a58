"""What doors do with arrays that do not fit: a sentence names the argument, and nothing crashes.

Each door is called with what a room once gave it, except for one array: an argument, or a field of
a bundle. Shapes are checked of what comes with a batch; plans, which the library compiles from a
space once, are not looked through at every call.
"""

import re

import numpy as np
import pytest

from rote.kernels.arrays import Bundle
from rote.kernels.misfits import types_of
from tools.recorded import copied, doors, fields_of, made, recording, solve_examples

WITHOUT_ARRAYS = {
    "local_search.global_features.no_items",
    "local_search.global_features.no_global_features",
}
# What comes with a batch. The library compiles all other bundles, and arguments of these names.
OF_BATCH = {"DualRows", "Offers", "Outputs", "Progress", "Questions"}
OF_PLANS = {"allowed", "columns", "numbers", "offsets", "out", "parts", "ptr", "sizes", "table"}
OF_PLANS |= {"begins", "ends", "nodes", "places", "said", "scratch", "texts", "weights"}
NOT_LOOKED_THROUGH = {"cache_lookup.best_remembered"}  # parts of outputs that are remembered
EVERY = doors()
DOORS = sorted(EVERY.keys() - WITHOUT_ARRAYS)


@pytest.fixture(scope="module")
def calls():
    """One call of every door."""
    found = {}
    with recording(found):
        solve_examples()
    return found


def other_dtype(array):
    others = {"f": np.float32, "i": np.int32, "b": np.int64, "u": np.int64}
    with np.errstate(over="ignore"):  # room that nothing was written to yet has any numbers
        return array.astype(others[array.dtype.kind])


def strided(array):
    return np.repeat(array, 2, axis=-1)[..., ::2]


def with_more_axes(array):
    return array[None]


def locked(array):
    again = array.copy()
    again.flags.writeable = False
    return again


def wrong_kinds(kind, array):
    """The same numbers as an array that does not fit."""
    yield other_dtype(array)
    yield with_more_axes(array)
    if array.ndim and array.shape[-1] > 1 and array.size:
        yield strided(array)
    if kind.startswith("Out"):
        yield locked(array)


def places(types, values):
    """Arrays among values, by their names: arguments, or what is in bundles among them."""
    for name, value in zip(types, values, strict=True):
        if isinstance(value, np.ndarray):
            yield (name,), types[name], value
        elif isinstance(value, Bundle):
            own = fields_of(value)
            inside = {each: types_of(type(value))[each] for each in own}
            for path, kind, array in places(inside, own.values()):
                yield (name, *path), kind, array


def put(types, values, path, array):
    """Copies of values, with another array at one place; what makes the bundle may refuse it."""
    for name, value in zip(types, values, strict=True):
        if name != path[0]:
            yield copied(value)
        elif len(path) == 1:
            yield array
        else:
            own = fields_of(value)
            inside = put(types_of(type(value)), own.values(), path[1:], array)
            yield made(value, **dict(zip(own, inside, strict=True)))


@pytest.mark.parametrize("name", DOORS)
def test_an_array_of_another_kind_is_named(calls, name):
    door, (given,) = EVERY[name], calls[name]
    types = types_of(door)
    for path, kind, array in places(types, given):
        for wrong in wrong_kinds(kind, array):
            with pytest.raises(TypeError, match=rf"\b{path[-1]}: expected a .*, got "):
                door(*put(types, given, path, wrong))


@pytest.mark.parametrize("name", DOORS)
def test_another_bundle_is_named(calls, name):
    door, (given,) = EVERY[name], calls[name]
    types = types_of(door)
    for at, (key, value) in enumerate(zip(types, given, strict=True)):
        if isinstance(value, Bundle):
            with pytest.raises(TypeError, match=rf"{key}: expected a bundle {types[key]}, got "):
                door(*given[:at], "another", *given[at + 1 :])


def shortened(array):
    """One less along each axis."""
    for axis in range(array.ndim):
        if array.shape[axis]:
            yield np.ascontiguousarray(np.delete(array, -1, axis))


@pytest.mark.parametrize("name", sorted({*DOORS} - NOT_LOOKED_THROUGH))
def test_an_array_of_a_batch_that_is_too_short_is_named_or_not_needed(calls, name):
    door, (given,) = EVERY[name], calls[name]
    types = types_of(door)
    for path, _, array in places(types, given):
        if path[0] in OF_PLANS if len(path) == 1 else types[path[0]] not in OF_BATCH:
            continue
        for short in shortened(array):
            try:
                door(*put(types, given, path, short))
            except ValueError as error:
                assert re.match(r"\w+: expected (at least )?\d+ \w+, got \d+", str(error))  # noqa: PT017
