"""The reader of protein chains: the format, damage, and the real files."""

from __future__ import annotations

import gzip
import os
from collections import Counter

import pytest

from papers.data.protein import RESIDUES, load_protein, protein_numbers, read_chains
from rote import DataError
from tests.io.damage import damaged, refused

SAMPLE = "0\tGVT\t_he\n0\tMA\teh\n1\tW\t_\n"


def test_a_chain_is_residues_and_a_label_each(tmp_path):
    path = tmp_path / "chains.tsv"
    path.write_text(SAMPLE)
    first, second, third = read_chains(path)
    assert first == ((("G",), ("V",), ("T",)), ("_", "h", "e"))
    assert second == ((("M",), ("A",)), ("e", "h"))
    assert third == ((("W",),), ("_",))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("0\tMA", "x\tMA", "expected the number of a protein, got 'x'"),
        ("MA\teh", "MA\teh_", "expected 2 signs as in 'MA', got 'eh_'"),
        ("MA", "MB", "expected one of A C .*got 'B'"),
        ("MA\teh", "MA\tec", "expected one of h e _, got 'c'"),
        ("MA\teh", "MA", "expected 3 columns, got 2"),
    ],
)
def test_a_damaged_file_is_answered_with_its_line_and_a_reason(tmp_path, old, new, reason):
    path = tmp_path / "chains.tsv"
    path.write_text(damaged(SAMPLE, old, new))
    with refused(path, 2, reason):
        read_chains(path)


def test_other_chains_are_not_taken_for_the_real_ones(tmp_path):
    for part in ("train", "test"):
        (tmp_path / f"protein_{part}.tsv.gz").write_bytes(gzip.compress(SAMPLE.encode()))
    with pytest.raises(DataError, match="test chains: 17 expected, 3 found"):
        load_protein(tmp_path)


def test_every_chain_is_known_by_its_protein(tmp_path):
    for part, text in (("train", SAMPLE), ("test", "7\tW\t_\n")):
        (tmp_path / f"protein_{part}.tsv.gz").write_bytes(gzip.compress(text.encode()))
    assert protein_numbers(tmp_path) == {"train": (0, 0, 1), "test": (7,)}


def test_the_real_chains_are_as_published():
    if not os.environ.get("ROTE_DATA"):
        pytest.skip("the real chains are read where ROTE_DATA names the folder of protein/")
    data = load_protein()
    assert {part: len(examples) for part, examples in data.parts.items()} == {
        "train": 111,
        "test": 17,
    }
    assert Counter(label for e in data["test"] for label in e.y) == {"h": 849, "e": 748, "_": 1923}
    assert {residue for e in data["train"] for (residue,) in e.x} == set(RESIDUES)
    assert "".join(residue for (residue,) in data["train"][0].x).startswith("GVGTVPMTDYGND")
    numbers = protein_numbers()
    assert [len(set(numbers[part])) for part in ("train", "test")] == [91, 15]
