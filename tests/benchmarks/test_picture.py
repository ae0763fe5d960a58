"""The README's picture says what a record says, and the README has its words in text."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

from benchmarks import picture

ROOT = Path(__file__).parents[2]
ROWS = [
    {"method": "LO", "relation_f1": 50.0, "broken_outputs": 7},
    {"method": "structural SVM", "relation_f1": 75.0, "broken_outputs": 0},
    {"method": "of another experiment", "relation_f1": 1.0, "broken_outputs": 0},
]


def test_bars_are_as_long_as_their_numbers():
    bars = ET.fromstring(picture.draw(ROWS, 9)).findall("{*}rect")
    first, second = (float(bar.get("width")) for bar in bars)
    assert second / first == 1.5
    assert len({bar.get("fill") for bar in bars}) == 2


def test_the_picture_is_drawn_from_a_record(monkeypatch, tmp_path):
    record, drawn = tmp_path / "record.json", tmp_path / "picture.svg"
    record.write_text(json.dumps({"rows": ROWS, "settings": {"plan": {"test": 9}}}))
    monkeypatch.setattr(sys, "argv", ["picture", str(record), str(drawn)])
    picture.main()
    words = "".join(ET.fromstring(drawn.read_text(encoding="utf-8")).itertext())
    assert "Relations in 9 sentences" in words
    assert "7 broken" in words
    assert "none broken" in words


def test_the_readme_and_the_benchmarks_say_the_numbers_of_the_picture():
    numbers = re.findall(
        r">(\d+\.\d)<", (ROOT / "docs" / "results.svg").read_text(encoding="utf-8")
    )
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (alternative,) = re.findall(r"!\[([^]]*)\]\(docs/results.svg\)", readme)
    table = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert len(numbers) == 4
    assert [number for number in numbers if number not in alternative] == []
    assert [number for number in numbers if f"| {number} |" not in table] == []
