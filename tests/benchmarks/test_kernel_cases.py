"""Cases for the kernels of every subfolder, which both versions can run."""

from pathlib import Path

import numpy as np
import pytest

import rote.kernels
from benchmarks.kernel_cases import CASES, NEW, OLD, Names, digest, possible


def test_every_subfolder_of_kernels_has_a_case():
    folders = {path.parent.name for path in Path(rote.kernels.__file__).parent.glob("*/*.py")}
    assert {case.split(":")[0] for case in CASES} == folders


def test_cases_that_need_a_corpus_are_left_out_without_it(monkeypatch):
    monkeypatch.setenv("ROTE_DATA", "somewhere")
    assert possible() == list(CASES)
    monkeypatch.delenv("ROTE_DATA")
    assert set(CASES) - set(possible()) == {case for case in CASES if "conll04" in case}


def test_names_are_found_by_version():
    assert Names("new").HammingBall is rote.HammingBall
    assert Names("new").Exact is rote.Exact
    with pytest.raises(AttributeError):
        Names("old").HammingBall  # noqa: B018
    assert NEW.keys() == OLD.keys()


def test_a_digest_tells_types_shapes_and_bits_apart():
    one = np.arange(4.0)
    others = [one.astype(np.float32), one.reshape(2, 2), one + 1e-16, -one, one[::-1]]
    assert digest([one]) == digest([np.arange(8.0)[:4]])
    assert len({digest([array]) for array in [one, *others]}) == 6
    assert digest([one, one]) != digest([one])


@pytest.mark.parametrize("case", [case for case in CASES if "conll04" not in case])
def test_a_case_finds_the_same_whenever_it_is_run(case):
    run = CASES[case](Names("new"))
    assert digest(run()) == digest(run())
