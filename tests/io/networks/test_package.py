"""The reader is chosen by the name of the file."""

import gzip

import pytest

from rote.errors import DataError
from rote.io.networks import Measure, read_network

FILES = {
    "a.uai": ("MARKOV 1 2 1 1 0 2 0.5 0.25", Measure.PROBABILITY),
    "a.wcsp": ("p 1 2 1 9 2 1 0 0 1 1 3", Measure.COST),
    "a.cfn": ("{{p >0} {x 2} {{[x] [1 2]}}}", Measure.GAIN),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("packed", [False, True])
def test_each_format_has_its_reader(tmp_path, name, packed):
    text, measure = FILES[name]
    path = tmp_path / (name + ".gz" * packed)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    network = read_network(path)
    assert network.measure is measure
    assert network.tables[0].shape == (2,)


def test_evidence_reaches_the_uai_reader(tmp_path):
    (tmp_path / "a.uai").write_text(FILES["a.uai"][0])
    (tmp_path / "a.evid").write_text("1 0 1")
    network = read_network(tmp_path / "a.uai", evidence=tmp_path / "a.evid")
    assert network.allowed[1].tolist() == [False, True]


def test_evidence_on_a_cost_file_and_an_unknown_name_are_data_errors(tmp_path):
    with pytest.raises(DataError, match=r"only \.uai files come with evidence"):
        read_network(tmp_path / "a.wcsp", evidence=tmp_path / "a.evid")
    with pytest.raises(DataError, match=r"expected a file name in \.uai, \.wcsp or \.cfn"):
        read_network(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.uai", "MARKOV 1 99999999999 0", "labels, between 1 and 1048576, got 99999999999"),
        ("a.wcsp", "a 1 99999999999 0 9\n9\n", "labels, between 0 and 1048576, got"),
        ("a.cfn", "{{a <9} {x 99999999999}}", "'x' has 1048576 labels at most, got 99999999999"),
    ],
)
def test_more_labels_than_fit_into_memory_are_refused(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=said):
        read_network(tmp_path / name)
