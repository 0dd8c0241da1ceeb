"""What lies in each hole: nothing, a disk, a tilted disk, or something that covers it."""

import numpy as np
import numpy.typing as npt

from vision.nets import Array, read_patches
from vision.slab import Holes

CLASSES = ("empty", "in_cell", "tilted", "covered")


_PLAIN = 1.15
"""Holes no odder than this look just like most and are empty; a disk makes its hole 1.3 and mostly 2 or more."""


def read_cells(holes: Holes, fresh: npt.NDArray[np.bool_] | None = None) -> Array:
    """How likely each hole, or each that is `fresh`, is each of CLASSES: (n, 4), rows sum to 1."""
    which = np.arange(len(holes.patches)) if fresh is None else np.flatnonzero(fresh)
    shares = np.zeros((len(which), len(CLASSES)), np.float32)
    shares[:, 0] = 1
    odd = holes.oddness[which] > _PLAIN
    if odd.any():
        shares[odd] = read_patches("cells", cell_features(holes, which[odd]))
    return shares


def cell_features(holes: Holes, which: npt.NDArray[np.intp]) -> Array:
    """Some holes less what each would look like empty, and less the wood round it: (n, PATCH, PATCH, 6)."""
    patches = holes.patches[which] - holes.wood[which, None, None, :]
    return np.concatenate([holes.residual[which], patches], axis=3)
