"""What kernels are written with: room, and filling it; compiled functions are seen at work only."""

import re
from pathlib import Path

import numpy as np
import pytest

from rote import kernels
from rote.kernels.bundles import Layout
from rote.kernels.outputs import values_of

HEADER = Path(kernels.__file__).with_name("arrays.pxd").read_text(encoding="utf-8")
SOURCE = Path(kernels.__file__).with_name("arrays.py").read_text(encoding="utf-8")
LAYOUT = Layout(*(np.array(a) for a in ([2, 2], [0, 2, 4], [0], np.zeros(0, np.int64), [4])))


def test_the_header_has_the_types_of_the_source():
    types = set(re.findall(r"^ctypedef .*\b(\w+)$", HEADER, re.MULTILINE)) - {"Number"}
    assert set(re.findall(r"^    (\w+): TypeAlias", SOURCE, re.MULTILINE)) == types


@pytest.mark.parametrize("name", ["floats", "floats2", "ints", "ints2", "flags", "flags2"])
def test_room_is_declared_as_it_is_made(name):
    kind = name.rstrip("2").capitalize() + ("2" if name.endswith("2") else "")
    assert re.search(rf"^cdef Out{kind} {name}\(", HEADER, re.MULTILINE)
    assert re.search(rf"^def {name}\(.*\) -> Out{kind}:", SOURCE, re.MULTILINE)


def test_arrays_that_are_read_may_be_read_only():
    scores, labels = np.arange(4.0)[None], np.array([[1, 0]])
    scores.flags.writeable = labels.flags.writeable = False
    assert values_of(scores, labels, LAYOUT).tolist() == [3.0]
