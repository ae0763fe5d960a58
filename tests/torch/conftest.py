"""One thread for PyTorch: the cores are shared with other workers, and its threads spin.

Where it is not installed, only what is said then is tested.
"""

import sys
from importlib.util import find_spec

import pytest

if find_spec("torch") is None:
    collect_ignore_glob = ["test_[!p]*.py"]  # all but test_package.py


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
