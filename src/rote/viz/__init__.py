"""Outputs to look at: one layout, painted as text in a terminal and as SVG in a notebook."""

from rote.viz.kinds import (
    picture_of_extraction,
    picture_of_graph,
    picture_of_grid,
    picture_of_labels,
    picture_of_tagging,
)
from rote.viz.picture import Picture

__all__ = [
    "Picture",
    "picture_of_extraction",
    "picture_of_graph",
    "picture_of_grid",
    "picture_of_labels",
    "picture_of_tagging",
]
