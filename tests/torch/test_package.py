"""PyTorch is loaded by whoever asks for this package, and by nobody else."""

import subprocess
import sys


def printed(program):
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_no_room_loads_pytorch():
    program = """
import sys
import rote, rote.learning, rote.metrics, papers, rote.cli
print("torch" in sys.modules)
"""
    assert printed(program) == "False"


def test_without_pytorch_the_package_says_what_to_install():
    program = """
import sys
sys.modules["torch"] = None
from rote.errors import MissingDependency
try:
    import rote.torch
except MissingDependency as error:
    print(error)
"""
    assert "pip install '.[torch]'" in printed(program)
