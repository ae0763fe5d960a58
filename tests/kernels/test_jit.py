"""`kernel`: nothing is compiled before the first call, and the plain body is always there."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

from rote.kernels.bundles import Layout
from rote.kernels.jit import Kernel, inlined, kernel, lean
from rote.kernels.outputs import parts_of
from tests.kernels.bodies import plain


@kernel
def doubled(values):
    """Twice the values."""
    result = np.empty_like(values)
    for k in range(values.shape[0]):
        result[k] = 2 * values[k]
    return result


@kernel
def quadrupled(values):
    return doubled(doubled(values))


@inlined
def clipped(values, k, most):
    """A value, or the most there may be."""
    if values[k] > most:
        return most
    return values[k]


@kernel
def clipped_total(values, most):
    total = 0.0
    for k in range(values.shape[0]):
        total += clipped(values, k, most)
    return total


@inlined
def clipped_twice(values, k, most):
    return 2 * clipped(values, k, most)


@kernel
def clipped_twice_total(values, most):
    total = 0.0
    for k in range(values.shape[0]):
        total += clipped_twice(values, k, most)
    return total


def test_a_kernel_answers_like_its_body():
    values = np.arange(4.0)
    assert isinstance(doubled, Kernel)
    assert doubled(values).tolist() == [0, 2, 4, 6]
    assert doubled.py_func(values).tolist() == [0, 2, 4, 6]


def test_a_kernel_keeps_its_name_and_documentation():
    assert doubled.__name__ == "doubled"
    assert doubled.__doc__ == "Twice the values."
    assert doubled.__module__ == __name__


def test_a_kernel_may_call_another():
    values = np.arange(3.0)
    assert quadrupled(values).tolist() == [0, 4, 8]
    assert quadrupled.py_func(values).tolist() == [0, 4, 8]
    assert plain(quadrupled)(values).tolist() == [0, 4, 8]


def test_an_inlined_kernel_can_be_called_from_python():
    values = np.array([1.0, 5.0])
    assert isinstance(clipped, Kernel)
    for body in (clipped, clipped.py_func, plain(clipped)):
        assert [body(values, k, 3.0) for k in range(2)] == [1.0, 3.0]
    assert clipped.__name__ == "clipped"
    assert clipped.__doc__ == "A value, or the most there may be."


def test_a_kernel_takes_in_an_inlined_one_and_says_the_same():
    values = np.array([1.0, 5.0, -2.0])
    for total in (clipped_total, clipped_total.py_func, plain(clipped_total)):
        assert total(values, 3.0) == 1.0 + 3.0 - 2.0
        assert total(values[:0], 3.0) == 0.0


def test_an_inlined_kernel_may_take_in_another():
    values = np.array([1.0, 5.0, -2.0])
    for total in (clipped_twice_total, plain(clipped_twice_total)):
        assert total(values, 3.0) == 2 * (1.0 + 3.0 - 2.0)


def test_only_inlined_kernels_are_taken_in():
    script = """
from rote.kernels.jit import inlined, kernel, lean
def same(x): return x
for made in (kernel(same), inlined(same), lean(same)):
    print(made.inner.targetoptions.get("inline"), made.inner.targetoptions.get("_nrt", True))
"""
    found = run(script, NUMBA_DISABLE_JIT="0")
    assert found == ["None", "True", "always", "True", "None", "False"]


@lean
def total_of(values):
    total = 0.0
    for k in range(values.shape[0]):
        total += values[k]
    return total


@kernel
def total_of_doubled(values):
    return total_of(doubled(values))


def test_a_lean_kernel_says_the_same_wherever_it_is_called_from():
    for total in (total_of_doubled, plain(total_of_doubled)):
        assert total(np.ones(3)) == 6.0
    assert total_of(np.ones(3)) == 3.0


def test_arguments_may_be_given_by_name():
    assert doubled(values=np.ones(1)).tolist() == [2.0]


def test_empty_arrays_are_answered():
    assert doubled(np.empty(0)).shape == (0,)


def run(script, **environment):
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()


SCRIPT = """
import sys
import rote
from rote.kernels.outputs import parts_of
print("numba" in sys.modules)
builder = rote.SpaceBuilder()
builder.factor(builder.variable("x", "ab"), builder.variable("y", "ab"))
print(int(builder.build().parts_of([[1, 0]])[0, 2]))
print("numba" in sys.modules)
print(parts_of.outer is parts_of.py_func)
"""


def test_importing_compiles_nothing_and_the_first_call_does():
    assert run(SCRIPT, NUMBA_DISABLE_JIT="0") == ["False", "6", "True", "False"]


def test_with_the_compiler_switched_off_plain_bodies_run():
    assert run(SCRIPT, NUMBA_DISABLE_JIT="1") == ["False", "6", "False", "True"]


def test_compiled_kernels_are_kept_on_disk(tmp_path):
    script = """
import numpy as np
from rote.kernels.bundles import Layout
from rote.kernels.outputs import parts_of
one = np.zeros(1, np.int64)
parts_of(np.zeros((1, 0), np.int64), Layout(one[:0], one, one, one[:0], one))
print(sum(parts_of.outer.stats.cache_hits.values()))
"""
    environment = {"NUMBA_DISABLE_JIT": "0", "NUMBA_CACHE_DIR": str(tmp_path)}
    assert run(script, **environment) == ["0"]
    assert run(script, **environment) == ["1"]
    assert any(path.suffix == ".nbi" for path in tmp_path.rglob("*"))


def test_the_plain_body_of_a_real_kernel_says_the_same():
    labels = np.array([[1, 0], [0, 2]])
    layout = Layout(*map(np.array, ([2, 3], [0, 2, 5], [0, 2], [1, 0], [5, 11])))
    assert parts_of(labels, layout).tolist() == plain(parts_of)(labels, layout).tolist()
    assert parts_of(labels, layout).tolist() == [[1, 2, 5 + 1], [0, 4, 5 + 4]]
