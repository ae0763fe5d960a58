"""The README's picture says what a record says, and the README has its words in text."""

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchmarks import picture
from papers.punyakanok2005.conll04_learners import CORPUS

ROOT = Path(__file__).parents[2]
ROWS = [
    {"method": "LO", "relation_f1": 50.0, "broken_outputs": 7},
    {"method": "structural SVM", "relation_f1": 75.0, "broken_outputs": 0},
    {"method": "of another experiment", "relation_f1": 1.0, "broken_outputs": 0},
]
WHOLE = {
    "sentences": CORPUS,
    "quick": False,
    "judged on": "test, 9 sentences",
    "plan": {"test": 288},  # at most so many
}


def test_bars_are_as_long_as_their_numbers():
    bars = ET.fromstring(picture.draw(ROWS, 9)).findall("{*}rect")
    first, second = (float(bar.get("width")) for bar in bars)
    assert second / first == 1.5
    assert len({bar.get("fill") for bar in bars}) == 2


def test_the_picture_is_drawn_from_a_record(monkeypatch, tmp_path):
    record, drawn = tmp_path / "record.json", tmp_path / "picture.svg"
    record.write_text(json.dumps({"rows": ROWS, "settings": WHOLE}))
    monkeypatch.setattr(sys, "argv", ["picture", str(record), str(drawn)])
    picture.main()
    words = "".join(ET.fromstring(drawn.read_text(encoding="utf-8")).itertext())
    assert "Relations in 9 sentences of conll04" in words
    assert "7 broken" in words
    assert "none broken" in words


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({**WHOLE, "quick": True}, "a quick run on conll04"),
        ({**WHOLE, "sentences": "made-up English sentences"}, "made-up English"),
        ({"quick": False}, "another experiment"),
    ],
)
def test_what_is_not_of_a_whole_run_on_the_corpus_is_refused(settings, said):
    with pytest.raises(
        SystemExit, match=f"a whole run on conll04, common split; got one of {said}"
    ):
        picture.judged(settings)


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
