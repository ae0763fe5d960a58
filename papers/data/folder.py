"""Where data sets are: each in a folder of its own, inside the folder that ROTE_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

from rote import DataError

VARIABLE = "ROTE_DATA"


def data_folder(name: str) -> Path:
    """The folder of the data set ``name``."""
    root = os.environ.get(VARIABLE)
    if not root:
        raise DataError(
            f"the data set {name!r} is looked for in the folder that the environment variable "
            f"{VARIABLE} names, and {VARIABLE} is not set; set it to the folder that holds "
            f"{name}/, for instance: export {VARIABLE}=~/data"
        )
    folder = Path(root).expanduser() / name
    if not folder.is_dir():
        raise DataError(
            f"{VARIABLE} is {root}, and there is no folder {folder}; put the data set {name!r} "
            f"there or point {VARIABLE} elsewhere"
        )
    return folder
