"""Factor graphs and cost networks in the formats UAI, WCSP and CFN, known by a file's name."""

from __future__ import annotations

from pathlib import Path

from rote.errors import DataError
from rote.io.networks.cfn import read_cfn
from rote.io.networks.table import CostNetwork, Measure
from rote.io.networks.uai import read_uai
from rote.io.networks.wcsp import read_wcsp
from rote.io.text import plain_suffix

__all__ = ["CostNetwork", "Measure", "read_network"]


def read_network(path: str | Path, evidence: str | Path | None = None) -> CostNetwork:
    """The network of a .uai, .wcsp or .cfn file, plain or ending in .gz or .xz.

    Parameters
    ----------
    path
        The file, known by its name.
    evidence
        A file that gives labels to some variables of a .uai file.
    """
    suffix = plain_suffix(Path(path))
    if suffix == ".uai":
        return read_uai(path, evidence)
    if evidence is not None:
        raise DataError(f"{path}: only .uai files come with evidence, got {evidence}")
    reader = {".wcsp": read_wcsp, ".cfn": read_cfn}.get(suffix)
    if reader is None:
        raise DataError(
            f"{path}: expected a file name in .uai, .wcsp or .cfn, with or without .gz or .xz; "
            "rename the file by its format"
        )
    return reader(path)
