"""Factor graphs and cost networks in the formats UAI, WCSP and CFN, known by a file's name."""

from __future__ import annotations

from pathlib import Path

from rote.errors import DataError
from rote.io.networks.cfn import COMMENT, read_cfn
from rote.io.networks.table import CostNetwork, Measure
from rote.io.networks.uai import PREAMBLES, read_uai
from rote.io.networks.wcsp import read_wcsp
from rote.io.text import plain_suffix, read_text

__all__ = ["CostNetwork", "Measure", "read_network"]


def read_network(path: str | Path, evidence: str | Path | None = None) -> CostNetwork:
    """The network of a .uai, .wcsp or .cfn file, plain or ending in .gz or .xz.

    Parameters
    ----------
    path
        The file, known by its name. "-" is the standard input, known by how it begins: with MARKOV
        or BAYES, with a brace, or with the name of a problem.
    evidence
        A file that gives labels to some variables of a .uai file.
    """
    suffix, text = plain_suffix(Path(path)), None
    if str(path) == "-":
        text = read_text(Path(path))
        begins = COMMENT.sub("", text).split(maxsplit=1)[:1]
        suffix = ".uai" if begins and begins[0].upper() in PREAMBLES else ".wcsp"
        suffix = ".cfn" if begins and begins[0].startswith("{") else suffix
    if suffix == ".uai":
        return read_uai(path, evidence, text)
    if evidence is not None:
        raise DataError(f"{path}: only .uai files come with evidence, got {evidence}")
    reader = {".wcsp": read_wcsp, ".cfn": read_cfn}.get(suffix)
    if reader is None:
        raise DataError(
            f"{path}: expected a file name in .uai, .wcsp or .cfn, with or without .gz or .xz; "
            "rename the file by its format"
        )
    return reader(path, text)
