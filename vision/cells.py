"""What lies in each hole: nothing, a disk, a tilted disk, or something that covers it."""

import numpy as np

from vision.nets import Array, read_patches
from vision.slab import Holes

CLASSES = ("empty", "in_cell", "tilted", "covered")


_PLAIN = 1.15
"""Holes no odder than this look just like most and are empty; a disk makes its hole 1.3 and mostly 2 or more."""


def read_cells(holes: Holes) -> Array:
    """How likely each hole is each of CLASSES: (n, 4), rows sum to 1."""
    shares = np.zeros((len(holes.patches), len(CLASSES)), np.float32)
    shares[:, 0] = 1
    odd = holes.oddness > _PLAIN
    if odd.any():
        shares[odd] = read_patches("cells", cell_features(holes)[odd])
    return shares


def cell_features(holes: Holes) -> Array:
    """Each hole less what it would look like empty, and less the wood round it: (n, PATCH, PATCH, 6)."""
    return np.concatenate([holes.residual, holes.patches - holes.wood[:, None, None, :]], axis=3)
