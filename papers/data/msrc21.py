"""MSRC-21: photographs as graphs of superpixels, to be labelled with one of 21 classes each.

Two .npz files hold the superpixels of all images one after the other; ``sp_ptr`` and
``edge_ptr`` say where each image begins. There are no images, only what was measured on
them: log-probabilities of a classifier that sees one superpixel at a time (for train
images from folds that left the image out), colours, places, histograms, and for each pair
of neighbours the length of their border in pixels and the contrast across it.

x is an `Image`; y has the class of each superpixel, or UNLABELLED where most of its pixels have
none. ``pixel_counts`` say how many pixels of a superpixel belong to each class, the last
column being void: with them a labelling is judged by pixels, as the literature does.
They come from the true labels, so no feature may be made of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from papers.data.checks import check_counts
from papers.data.examples import DataSet, Example
from papers.data.folder import data_folder
from papers.data.npz import Wanted, array_error, check_pointers, read_arrays
from rote import DataError
from rote.tasks import Graph
from rote.tasks.graphs import UNLABELLED
from rote.types import AnyArray, FloatArray, IntArray, readonly

FOLDER = "msrc21"


GRAPHS, FEATURES = "msrc21_graphs.npz", "msrc21_features.npz"


CLASSES = (
    "building",
    "grass",
    "tree",
    "cow",
    "sheep",
    "sky",
    "aeroplane",
    "water",
    "face",
    "car",
    "bicycle",
    "flower",
    "sign",
    "bird",
    "book",
    "chair",
    "road",
    "cat",
    "dog",
    "body",
    "boat",
)


STORED_VOID = 255


COUNTS = {"train": 335, "test": 256, "superpixels": 76002, "edges": 199095, "void": 15125}


Superpixels: TypeAlias = DataSet["Image", IntArray]


@dataclass(frozen=True, eq=False)
class Image:
    """What is known of the superpixels of an image, one row each; all arrays are read-only."""

    name: str
    size: tuple[int, int]  # height and width in pixels
    unary: FloatArray  # (n, 21) log-probabilities
    base: FloatArray  # (n, 17): colour means and deviations, place, area
    colors: NDArray[np.uint8]  # (n, 64) histogram; 255 is all pixels, here and below
    textons: NDArray[np.uint8]  # (n, 128) histogram
    daisies: NDArray[np.uint8]  # (n, 160) histogram
    edges: IntArray  # (m, 2) neighbours, the smaller number first
    edge_attributes: FloatArray  # (m, 2): border length in pixels, contrast
    pixel_counts: IntArray  # (n, 22)

    def __len__(self) -> int:
        return len(self.unary)

    def features(self) -> FloatArray:
        """``base`` and the three histograms as shares, side by side: (n, 369)."""
        shares = [h / 255.0 for h in (self.colors, self.textons, self.daisies)]
        return np.hstack([self.base, *shares])


def load_msrc21(folder: str | Path | None = None) -> Superpixels:
    """The images by train and test, with every count checked; by default from ROTE_DATA/msrc21."""
    folder = data_folder(FOLDER) if folder is None else Path(folder)
    data = read_msrc21(folder / GRAPHS, folder / FEATURES)
    examples = [example for part in data.parts.values() for example in part]
    found = {part: len(own) for part, own in data.parts.items()}
    found["superpixels"] = sum(len(x) for x, _ in examples)
    found["edges"] = sum(len(x.edges) for x, _ in examples)
    found["void"] = sum(int(np.count_nonzero(y == UNLABELLED)) for _, y in examples)
    check_counts(FOLDER, folder, COUNTS, found)
    return data


def read_msrc21(graphs: str | Path, features: str | Path) -> Superpixels:
    """The images of two files, whose rows go together."""
    graphs, features = Path(graphs), Path(features)
    arrays = _read_graphs(graphs)
    rows = len(arrays["labels"])
    wanted = {"base": Wanted("f", (rows, 17))}
    wanted |= {
        f"{name}_hist": Wanted("iu", (rows, bins))
        for name, bins in (("color", 64), ("texton", 128), ("daisy", 160))
    }
    arrays |= read_arrays(features, wanted)
    for name in ("color_hist", "texton_hist", "daisy_hist"):
        if arrays[name].dtype != np.uint8:
            raise array_error(features, name, f"expected bytes, got {arrays[name].dtype}")
    parts: dict[str, list[Example[Image, IntArray]]] = {"train": [], "test": []}
    for i, is_train in enumerate(arrays["is_train"]):
        parts["train" if is_train else "test"].append(_example(graphs, arrays, i))
    return DataSet(FOLDER, MappingProxyType({part: tuple(own) for part, own in parts.items()}))


def _read_graphs(path: Path) -> dict[str, AnyArray]:
    images, rows, edges = _sizes(path)
    classes = len(CLASSES)
    arrays = read_arrays(
        path,
        {
            "names": Wanted("U", (images,)),
            "is_train": Wanted("iu", (images,)),
            "image_size": Wanted("iu", (images, 2)),
            "sp_ptr": Wanted("iu", (images + 1,)),
            "edge_ptr": Wanted("iu", (images + 1,)),
            "class_names": Wanted("U", (classes,)),
            "labels": Wanted("iu", (rows,)),
            "pixel_counts": Wanted("iu", (rows, classes + 1)),
            "unary": Wanted("f", (rows, classes)),
            "edges": Wanted("iu", (edges, 2)),
            "edge_attr": Wanted("f", (edges, 2)),
        },
    )
    check_pointers(path, "sp_ptr", arrays["sp_ptr"], rows)
    check_pointers(path, "edge_ptr", arrays["edge_ptr"], edges)
    if tuple(arrays["class_names"].tolist()) != CLASSES:
        raise array_error(path, "class_names", f"expected {', '.join(CLASSES)}, in this order")
    known = (arrays["labels"] < classes) | (arrays["labels"] == STORED_VOID)
    if not known.all():
        wrong = arrays["labels"][np.argmin(known)]
        raise array_error(path, "labels", f"expected 0 to {classes - 1} or 255, got {wrong}")
    if len(set(arrays["names"].tolist())) != images:
        raise array_error(path, "names", "expected names that differ, got one twice")
    return arrays


def _sizes(path: Path) -> tuple[int, int, int]:
    """How many images, superpixels and edges the file says it has."""
    wanted = {"names": Wanted("U", (None,)), "labels": Wanted("iu", (None,))}
    arrays = read_arrays(path, {**wanted, "edges": Wanted("iu", (None, 2))})
    return len(arrays["names"]), len(arrays["labels"]), len(arrays["edges"])


def _example(path: Path, arrays: dict[str, AnyArray], i: int) -> Example[Image, IntArray]:
    rows = slice(*arrays["sp_ptr"][i : i + 2])
    pairs = slice(*arrays["edge_ptr"][i : i + 2])
    labels = arrays["labels"][rows].astype(np.int64)
    edges = arrays["edges"][pairs].astype(np.int64)
    height, width = arrays["image_size"][i].tolist()
    image = Image(
        name=str(arrays["names"][i]),
        size=(height, width),
        unary=readonly(arrays["unary"][rows].astype(np.float64)),
        base=readonly(arrays["base"][rows].astype(np.float64)),
        colors=readonly(arrays["color_hist"][rows]),
        textons=readonly(arrays["texton_hist"][rows]),
        daisies=readonly(arrays["daisy_hist"][rows]),
        edges=readonly(edges),
        edge_attributes=readonly(arrays["edge_attr"][pairs].astype(np.float64)),
        pixel_counts=readonly(arrays["pixel_counts"][rows].astype(np.int64)),
    )
    _check_image(path, image)
    labels[labels == STORED_VOID] = UNLABELLED
    return Example(image, readonly(labels))


def _check_image(path: Path, image: Image) -> None:
    first, second = image.edges[:, 0], image.edges[:, 1]
    if np.any(first < 0) or np.any(first >= second) or np.any(second >= len(image)):
        raise array_error(
            path,
            "edges",
            f"expected pairs of superpixels of {image.name!r}, which has {len(image)}, "
            "the smaller number first",
        )
    if (pixels := int(image.pixel_counts.sum())) != image.size[0] * image.size[1]:
        raise DataError(
            f"{path}: image {image.name!r} has {image.size[0]} x {image.size[1]} pixels, "
            f"and its pixel_counts add up to {pixels}"
        )


def image_graph(image: Image) -> Graph:
    """An image of MSRC-21: log-probabilities of nodes, and how neighbours meet.

    The features of an edge are how alike its two sides are, exp(-contrast / the image's mean
    contrast), the logarithm of their border's length, and the product of both.
    """
    border, contrast = np.log1p(image.edge_attributes[:, 0]), image.edge_attributes[:, 1]
    usual = float(contrast.mean()) if len(contrast) else 0.0
    alike = np.exp(-contrast / usual) if usual > 0 else np.ones(len(contrast))
    return Graph(image.unary, image.edges, np.stack([alike, border, alike * border], axis=1))
