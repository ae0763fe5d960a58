"""Every Python example of the README and of the documentation runs and prints what is shown.

The blocks of one page are run in order in one namespace. A ```text block that follows
a ```python block, with nothing but blank lines between, is what that block prints.
"""

from __future__ import annotations  # the code of pages is compiled as if it began so

import contextlib
import io
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n*^```text\n(?P<printed>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Example:
    code: str
    printed: str | None


def examples(page: Path) -> list[Example]:
    text = page.read_text(encoding="utf-8")
    return [Example(found["code"], found["printed"]) for found in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_print_what_the_page_shows(page):
    scope: dict[str, object] = {"__name__": "__main__"}
    for example in examples(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(example.code, page.name, "exec"), scope)  # noqa: S102
        if example.printed is not None:
            assert printed.getvalue() == example.printed


def test_the_readme_opens_with_an_example_of_about_ten_lines_and_its_output():
    first = examples(ROOT / "README.md")[0]
    lines = [line for line in first.code.splitlines() if line.strip()]
    assert len(lines) <= 12
    assert first.printed
    assert "print(" in first.code


def test_the_readme_names_the_two_commands_before_its_first_example():
    opening = (ROOT / "README.md").read_text(encoding="utf-8").split("```python")[0]
    assert "make run" in opening
    assert "make test" in opening


def test_an_example_that_prints_nothing_or_something_else_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n\n```text\n2\n```\n", encoding="utf-8")
    assert examples(page) == [Example("print(1)\n", "2\n")]
    with pytest.raises(AssertionError):
        test_the_examples_of_a_page_print_what_the_page_shows(page)
