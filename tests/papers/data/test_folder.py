"""Data sets are found by the environment variable ROTE_DATA."""

import pytest

from papers.data.folder import data_folder
from rote import DataError


def test_a_data_set_is_a_folder_inside_rote_data(tmp_path, monkeypatch):
    (tmp_path / "conll04").mkdir()
    monkeypatch.setenv("ROTE_DATA", str(tmp_path))
    assert data_folder("conll04") == tmp_path / "conll04"


def test_a_home_folder_is_expanded(tmp_path, monkeypatch):
    (tmp_path / "sets" / "ocr").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ROTE_DATA", "~/sets")
    assert data_folder("ocr") == tmp_path / "sets" / "ocr"


def test_without_the_variable_the_error_says_how_to_set_it():
    with pytest.raises(DataError, match=r"ROTE_DATA is not set.*export ROTE_DATA="):
        data_folder("conll04")


def test_a_missing_folder_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("ROTE_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"there is no folder .*ocr"):
        data_folder("ocr")
