"""What tests of commands share: a small problem."""

import pytest

# Two variables with two labels each; (1, 0) is the most probable: 0.6 · 0.5 · 2 = 0.6.
UAI = """MARKOV
2
2 2
3
1 0
1 1
2 0 1
2 0.4 0.6
2 0.5 0.5
4 1 1 2 1
"""


@pytest.fixture
def uai(tmp_path):
    file = tmp_path / "problem.uai"
    file.write_text(UAI, encoding="utf-8")
    return file
