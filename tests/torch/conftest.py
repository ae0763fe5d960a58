"""One thread for PyTorch: the cores are shared with other workers, and its threads spin."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def one_thread():
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
