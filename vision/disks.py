"""Disks on a board with holes: from one picture to where each lies, how it lies and whose it is."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.board import CrossingsBoard, Floats, HolesBoard, Image, Profile
from vision.calibration import Calibration
from vision.cells import read_cells
from vision.colours import Seen, tell_colours
from vision.lying import lying_features, read_lying
from vision.nets import Array
from vision.rims import RADIUS, REACH, Rims, fit_rims
from vision.sighting import LyingSeen, Reading, Sighting
from vision.slab import PATCH, PIXEL, Changes, Holes, Slab, changes, compare_with_empty, rectify
from vision.spots import Circles, Indices, pooled_features, read_spots, vote_circles
from vision.stones import read_stones

_LEAST_VOTES = 3.2
"""Circle votes of the faintest place that is looked at; a disk of the wood's colour gets 4, others 6 and more."""
_MOST_CIRCLES = 40
"""How many of the best places are looked at: 24 disks and some that look alike."""
_SURE = 0.5
"""The share from which a circle is a disk."""
_DISK = 0.75
_NO_DISK = 0.35
"""A hole holds a disk from the one share on and none up to the other; between them it cannot be told."""
_FLAT_BY_HAND = 0.7
"""Beside a hand only a disk that lies flat is told: in its shadow an empty hole looks like a tilted disk."""
_TILTED = 0.88
"""The chance from which a disk is called tilted: many lie flat for one that does not."""
_NEAR_HOLE = 2.5
"""A circle this close to a hole's middle, in units, is that hole's disk or the hole itself: a disk has a play of 2."""
_AROUND = np.array(
    [(0.0, 0.0), *((r * math.cos(k), r * math.sin(k)) for r in (3.5, 6.5) for k in np.arange(8) * math.pi / 4)]
)
"""Where a fit starts to find a disk over a hole that holds one, from the hole's middle, in units."""
_ANOTHER_RIM = 0.84
"""A rim this far from that of the disk in a hole is of another disk, in units; fitted again it is at most 0.55 off."""
_USUAL_VOTES = np.float32(9)
"""What the circle of a disk gets."""
_SURE_BELOW = 0.95
"""The share from which a hole of which a disk on the surface covers a good part holds one."""
_HALF_SEEN = 0.5
"""A hole under part of a disk on the surface may hold one from this share on."""
_SURE_OVER_HOLE = 0.9
"""The share from which a circle over a hole that looks empty is a disk all the same."""
_NO_LEANING = 8.0
"""No disk leans on another this close to a hole's middle, in units."""
_SLACK = 0.75
"""How much nearer to an empty hole's middle than gravity allows a disk may be seen, in units."""
_NEIGHBOUR = 1.5
"""Holes up to this many pitches apart are neighbours."""
_HAND_HOLES = 2
"""A hand covers at least so many neighbours; a disk on the surface may cover one."""
_PLAIN = 1.9
"""A hole no odder than this has nothing over it (see Holes); a disk over a hole makes it 2.2 and more."""
_OVER_HOLE = 16.0
"""A disk this close to a hole's middle, in units, covers a good part of it."""
_OVER_TILTED = 22.0
"""A disk this close to a hole's middle, in units, would touch one that is tilted in it."""
_APART = 15.0
"""Two disks on the surface are at least this far apart, in units; of two that are nearer than their width one leans."""
_TILTED_SIGMA = 1.5
"""In units: a tilted disk is reported at its hole's centre."""
_LEANING_SIGMA = 2.5
_MUCH = 0.25
"""Of the slab, or of its holes: where more looks different, as in another light, the picture is read whole."""
_EVERY_RAY = 2
"""Colours are taken from every so many-th ray."""
_TOP = (REACH >= 9.0) & (REACH <= 11.5)
_RING = (REACH >= 13.0) & (REACH <= 13.75)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What one picture shows of a table, with all that makes the next picture of it cheap to read."""

    reading: Reading
    calibration: Calibration
    slab: Slab
    holes: Holes
    kinds: Array
    """(holes, 4), the share of each of `cells.CLASSES`"""
    edge: float
    """The energy of the weakest edges that vote for circles"""
    disks: "Disks"
    light: Floats | None
    """As `tell_colours` gives it; None where no disk has told it yet"""


@dataclass(frozen=True, slots=True, eq=False)
class Disks:
    """Some disks, as one picture or the other showed them. `holes` (n,) is -1 for those on the surface."""

    centres_mm: Floats
    sigma_mm: Floats
    holes: Indices
    lying: npt.NDArray[np.str_]
    sure: Array
    """(n,) how sure it is that each is a disk"""
    tilt_chances: Array
    """(n,) how likely each is tilted in its hole"""
    seen: Seen

    def __getitem__(self, which: npt.NDArray[np.bool_]) -> "Disks":
        return Disks(
            self.centres_mm[which],
            self.sigma_mm[which],
            self.holes[which],
            self.lying[which],
            self.sure[which],
            self.tilt_chances[which],
            Seen(self.seen.top[which], self.seen.ring[which], self.seen.wood[which]),
        )

    def fill(self, holes: int) -> npt.NDArray[np.bool_]:
        """Which of so many holes hold one of them."""
        filled = np.zeros(holes, dtype=bool)
        filled[self.holes[self.holes >= 0]] = True
        return filled

    def __add__(self, other: "Disks") -> "Disks":
        return Disks(
            np.concatenate([self.centres_mm, other.centres_mm]),
            np.concatenate([self.sigma_mm, other.sigma_mm]),
            np.concatenate([self.holes, other.holes]),
            np.concatenate([self.lying, other.lying]),
            np.concatenate([self.sure, other.sure]),
            np.concatenate([self.tilt_chances, other.tilt_chances]),
            Seen(
                np.concatenate([self.seen.top, other.seen.top]),
                np.concatenate([self.seen.ring, other.seen.ring]),
                np.concatenate([self.seen.wood, other.seen.wood]),
            ),
        )


def find_disks(image_bgr: Image, calibration: Calibration, profile: Profile) -> tuple[Sighting, ...]:
    """Every disk seen in a picture (h, w, 3) of a board with holes, or stone on one with crossings."""
    return read_disks(image_bgr, calibration, profile).disks


def read_disks(image_bgr: Image, calibration: Calibration, profile: Profile) -> Reading:
    """What `find_disks` finds, and the cells that something covers. ValueError for a board of squares."""
    if isinstance(profile.board, CrossingsBoard):
        return read_stones(image_bgr, calibration, profile)
    return read_table(image_bgr, calibration, profile).reading


def read_table(image_bgr: Image, calibration: Calibration, profile: Profile, before: Table | None = None) -> Table:
    """What a picture (h, w, 3) shows of a board with holes. With `before`, an earlier picture from the same place, only
    what looks different is read, unless that is much."""
    board = profile.board
    if not isinstance(board, HolesBoard):
        raise ValueError("disks are read on a board with holes or crossings")
    slab = rectify(image_bgr, calibration, board)
    if before is not None and before.calibration is calibration:
        changed = changes(slab, before.slab)
        fresh = changed.near(slab, board.cells_mm(), PATCH / 2 * PIXEL)
        if max(changed.share(), fresh.mean()) < _MUCH:
            return _read_changed(image_bgr, profile, slab, before, changed, fresh)
    holes = compare_with_empty(slab, board)
    circles = vote_circles(slab, least_votes=_LEAST_VOTES)
    fresh = np.ones(len(holes.patches), dtype=bool)
    new = _Unread(slab, holes, read_cells(holes), fresh, circles, _no_disks(), None)
    return _read(image_bgr, calibration, profile, new)


def _read_changed(
    image_bgr: Image, profile: Profile, slab: Slab, before: Table, changed: Changes, fresh: npt.NDArray[np.bool_]
) -> Table:
    """The table before, but for what changed; the holes that look different are `fresh` (n,)."""
    board = profile.board
    assert isinstance(board, HolesBoard)
    # What could not be told before is looked at again.
    fresh = fresh | _unknown(before.kinds) & ~before.disks.fill(len(fresh))
    holes = before.holes.again(slab, board, changed.light, fresh)
    kinds = before.kinds.copy()
    if fresh.any():
        kinds[fresh] = read_cells(holes, fresh)
    on_surface = before.disks.holes < 0
    stale = np.where(on_surface, changed.near(slab, before.disks.centres_mm, REACH.max()), fresh[before.disks.holes])
    margin = math.ceil(RADIUS / PIXEL) + 2
    found = [
        vote_circles(
            slab.part(left - margin, top - margin, right + margin, bottom + margin),
            least_votes=_LEAST_VOTES,
            edge=before.edge,
        )
        for left, top, right, bottom in changed.windows(slab, before.disks.centres_mm[stale & on_surface], RADIUS)
    ]
    circles = Circles(
        np.concatenate([np.zeros((0, 2)), *(some.centres_mm for some in found)]),
        np.concatenate([np.zeros(0, np.float32), *(some.votes for some in found)]),
        before.edge,
    )
    new = _Unread(slab, holes, kinds, fresh, circles, before.disks[~stale], before.light)
    return _read(image_bgr, before.calibration, profile, new)


@dataclass(frozen=True, slots=True, eq=False)
class _Unread:
    """A picture of which the holes that are `fresh` and the circles are still to be judged; `kept` are known disks."""

    slab: Slab
    holes: Holes
    kinds: Array
    fresh: npt.NDArray[np.bool_]
    circles: Circles
    kept: Disks
    light: Floats | None


def _read(image_bgr: Image, calibration: Calibration, profile: Profile, new: _Unread) -> Table:
    board = profile.board
    assert isinstance(board, HolesBoard)
    kinds, kept = new.kinds, new.kept
    cells_mm, unit_mm = board.cells_mm(), new.slab.unit_mm
    share = kinds[:, 1] + kinds[:, 2]
    held = np.flatnonzero(new.fresh & (share > _DISK))
    circles_mm, votes = surface_circles(new.circles, calibration, board, unit_mm)
    kept_mm = kept.centres_mm[kept.holes < 0]
    idle = _nearest_apart(circles_mm, cells_mm[new.holes.oddness < _PLAIN]) < _OVER_HOLE * unit_mm
    idle |= _nearest_apart(circles_mm, kept_mm) < _APART * unit_mm
    circles_mm, votes = circles_mm[~idle], votes[~idle]

    # One fit for the disks in holes and those on the surface.
    count = len(held)
    starts_mm = np.concatenate([cells_mm[held], circles_mm])
    in_hole = np.arange(len(starts_mm)) < count
    top_mm = np.where(in_hole, board.disk_height_mm - board.slab_mm, board.disk_height_mm)
    rims = fit_rims(image_bgr, calibration, starts_mm, top_mm, in_hole, unit_mm)
    pooled = pooled_features(rims.samples[count:], votes, new.holes.wood.mean(axis=0))
    spots = read_spots(rims.features[count:], pooled)
    certain = _certain(rims.centres_mm[count:], spots, new, board)
    # A fit may find its way from beside a hole to the rim of the disk in it.
    shown_mm = calibration.shifted(rims.centres_mm[count:], board.disk_height_mm, 0.0)
    certain[_nearest_apart(shown_mm, cells_mm) <= _NEAR_HOLE * unit_mm] = 0
    picked = _pick(rims.centres_mm[count:], certain, _APART * unit_mm)
    leaning = spots[picked, 2] > spots[picked, 1]
    over_mm = _nearest_apart(cells_mm, np.concatenate([kept_mm, rims.centres_mm[count + picked]]))
    hole_radius_mm = board.hole_diameter_mm / 2
    rays = lying_features(image_bgr, calibration, rims.first(count), cells_mm[held], hole_radius_mm, unit_mm)
    over = over_mm / unit_mm
    beside = over_mm > (board.hole_diameter_mm + board.disk_diameter_mm) / 2
    by_hand = _by_hand(_covered(kinds) & beside, board)[held]
    tilt_chances = read_lying(rays)[:, 1]
    flat, tilted = _told(kinds[held], tilt_chances, over[held], by_hand)
    # Under a disk that lies over the hole, or beside a hand, the rays tell nothing.
    tilt_chances[by_hand | (over[held] <= _OVER_TILTED)] = 0
    flats, tilts = np.flatnonzero(flat), held[tilted]

    fitted = np.concatenate([flats, count + picked])
    count = len(flats)
    centres_mm = np.concatenate([rims.centres_mm[fitted], cells_mm[tilts]])
    sigma_mm = np.concatenate([rims.sigma_mm[fitted], np.full(len(tilts), _TILTED_SIGMA * unit_mm)])
    sigma_mm[count : len(fitted)][leaning] = _LEANING_SIGMA * unit_mm
    disks = kept + Disks(
        centres_mm,
        sigma_mm,
        np.concatenate([held[flats], np.full(len(picked), -1), tilts]),
        np.array(["in_cell"] * count + ["leaning" if leans else "flat" for leans in leaning] + ["tilted"] * len(tilts)),
        np.concatenate([share[held[flats]], certain[picked], share[tilts]]),
        np.concatenate([tilt_chances[flats], np.zeros(len(picked), np.float32), tilt_chances[tilted]]),
        _seen(rims, fitted, new.holes, tilts, centres_mm, cells_mm),
    )
    # A disk that rests over a hole's middle rests on another in it, of which nothing may be seen. Further off it is no
    # cover by itself: what it hides is known.
    buried = over_mm < _least_rest_mm(board) - _SLACK * unit_mm
    half_seen = (over < _OVER_HOLE) & (share > _HALF_SEEN)
    hidden = (buried | half_seen | (beside & _unknown(kinds))) & ~disks.fill(len(cells_mm))
    cells = tuple(_row_and_column(cell, board) for cell in np.flatnonzero(hidden).tolist())
    shares, light = tell_colours(disks.seen, _paints(profile), new.light)
    reading = Reading(_sightings(disks, shares, profile, board), cells)
    return Table(reading, calibration, new.slab, new.holes, kinds, new.circles.edge, disks, light)


def disk_over(
    image_bgr: Image, table: Table, profile: Profile, cell: tuple[int, int], lower_mm: tuple[float, float]
) -> tuple[Floats, float] | None:
    """The middle (2,) and sigma of a disk that lies on the surface over the flat one at lower_mm in a hole, in mm.

    `read_table` takes it for the one in the hole. None where no rim is seen but that of the lower one, which nothing on
    the surface moves. The table is what was read of the picture (h, w, 3).
    """
    board = profile.board
    assert isinstance(board, HolesBoard)
    unit_mm, top_mm, calibration = table.slab.unit_mm, board.disk_height_mm, table.calibration
    hole_mm = board.cells_mm()[(cell[0] - 1) * board.columns + cell[1] - 1]
    starts_mm = calibration.shifted(hole_mm + _AROUND * unit_mm, 0.0, top_mm)
    count = len(starts_mm)
    rims = fit_rims(image_bgr, calibration, starts_mm, np.full(count, top_mm), np.zeros(count, dtype=bool), unit_mm)
    pooled = pooled_features(rims.samples, np.full(count, _USUAL_VOTES), table.holes.wood.mean(axis=0))
    sure = 1 - read_spots(rims.features, pooled)[:, 0]
    apart_mm = np.linalg.norm(calibration.shifted(rims.centres_mm, top_mm, 0.0) - lower_mm, axis=1)
    best = int(sure.argmax())
    if sure[best] <= _SURE or apart_mm[best] < _ANOTHER_RIM * unit_mm:
        return None
    return rims.centres_mm[best], float(rims.sigma_mm[best])


def _certain(centres_mm: Floats, spots: Array, new: _Unread, board: HolesBoard) -> Array:
    """How sure it is that each circle (n, 2), of which spots (n, 3) tell, is a disk on the surface."""
    cells_mm, unit_mm, kinds = board.cells_mm(), new.slab.unit_mm, new.kinds
    by_hand = _by_hand(_covered(kinds), board)
    filled = np.where(by_hand, kinds[:, 1] > _FLAT_BY_HAND, kinds[:, 1] + kinds[:, 2] > _DISK)
    filled = np.where(new.fresh, filled, new.kept.fill(len(cells_mm)))
    from_cells_mm = np.linalg.norm(centres_mm[:, None] - cells_mm, axis=2)
    nearest, away_mm = from_cells_mm.argmin(axis=1), from_cells_mm.min(axis=1)
    certain = 1 - spots[:, 0]
    # A disk over an empty hole falls in; that the hole is empty is doubted where one is seen most clearly.
    unsure = by_hand[nearest] | (certain < _SURE_OVER_HOLE)
    falls = (away_mm < _least_rest_mm(board) - _SLACK * unit_mm) & ~filled[nearest] & unsure
    # What leans at a hole's middle is a disk that is tilted in it.
    stuck = (away_mm < _NO_LEANING * unit_mm) & (spots[:, 2] > spots[:, 1])
    taken = _nearest_apart(centres_mm, new.kept.centres_mm[new.kept.holes < 0]) < _APART * unit_mm
    return np.where(falls | stuck | taken, np.float32(0), certain)


def _told(
    kinds: Array, tilt_chances: Array, over: Floats, by_hand: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which of the holes (n,) that seem to hold a disk are told to hold a flat one, and which a tilted one.

    `tilt_chances` (n,) are by the rays; `over` is how far away, in units, the nearest disk on the surface is.
    """
    # Beside a hand only flat disks are told. A tilted one stands up from its hole, so none is under a disk that lies
    # over the hole: what looks so there is the upper one.
    under = over <= _OVER_TILTED
    flat = np.where(under, kinds[:, 1] >= kinds[:, 2], tilt_chances <= _TILTED)
    flat = np.where(by_hand, kinds[:, 1] > _FLAT_BY_HAND, flat)
    # What the upper disk leaves of an empty hole is dark, as a dark disk is.
    sure = (over > _OVER_HOLE) | (kinds[:, 1] + kinds[:, 2] > _SURE_BELOW)
    return flat & sure, ~flat & ~under & ~by_hand & sure


def _sightings(disks: Disks, shares: Floats, profile: Profile, board: HolesBoard) -> tuple[Sighting, ...]:
    lying: list[LyingSeen] = disks.lying.tolist()
    return tuple(
        Sighting(
            (float(centre[0]), float(centre[1])),
            float(sigma),
            profile.colours[int(share.argmax())][0],
            how,
            None if hole < 0 else _row_and_column(int(hole), board),
            float(sure * share.max()),
            float(tilt_chance),
        )
        for centre, sigma, share, how, hole, sure, tilt_chance in zip(
            disks.centres_mm,
            disks.sigma_mm,
            shares,
            lying,
            disks.holes,
            disks.sure,
            disks.tilt_chances,
            strict=True,
        )
    )


def _no_disks() -> Disks:
    seen = Seen(*(np.zeros((0, 3)) for _ in range(3)))
    nothing = np.zeros(0)
    indices, shares = nothing.astype(np.intp), nothing.astype(np.float32)
    return Disks(np.zeros((0, 2)), nothing, indices, nothing.astype("U7"), shares, shares, seen)


def _covered(kinds: Array) -> npt.NDArray[np.bool_]:
    """The holes that something covers which is no disk."""
    return np.asarray((kinds[:, 3] > kinds[:, 0]) & (kinds[:, 1] + kinds[:, 2] <= _DISK))


def _unknown(kinds: Array) -> npt.NDArray[np.bool_]:
    """The holes of which it cannot be told whether they hold a disk, unless one was found there."""
    return np.asarray(_covered(kinds) | (kinds[:, 1] + kinds[:, 2] > _NO_DISK))


def _by_hand(covered: npt.NDArray[np.bool_], board: HolesBoard) -> npt.NDArray[np.bool_]:
    """The holes in the midst of several that are covered: there a hand is over the board."""
    cells_mm = board.cells_mm()
    near = np.linalg.norm(cells_mm[:, None] - cells_mm[covered], axis=2) < _NEIGHBOUR * board.pitch_mm
    return np.asarray(near.sum(axis=1) >= _HAND_HOLES)


def _row_and_column(index: int, board: HolesBoard) -> tuple[int, int]:
    return index // board.columns + 1, index % board.columns + 1


def surface_circles(
    circles: Circles, calibration: Calibration, board: HolesBoard, unit_mm: float
) -> tuple[Floats, Array]:
    """Where disks may lie on the surface: board millimetres of their middles, (n, 2), and their votes, (n,)."""
    centres_mm = calibration.shifted(circles.centres_mm, 0.0, board.disk_height_mm)
    cells_mm = board.cells_mm()
    from_hole = _nearest_apart(circles.centres_mm, cells_mm)
    reach_mm = board.disk_diameter_mm / 2
    inside = ((centres_mm > -reach_mm) & (centres_mm < (board.width_mm + reach_mm, board.length_mm + reach_mm))).all(1)
    keep = np.flatnonzero(inside & (from_hole > _NEAR_HOLE * unit_mm))[:_MOST_CIRCLES]
    return centres_mm[keep], circles.votes[keep]


def _pick(centres_mm: Floats, sure: npt.NDArray[np.floating], apart_mm: float) -> npt.NDArray[np.intp]:
    """The indices of the surest centres that are apart from each other."""
    picked: list[int] = []
    for index in np.argsort(-sure):
        if sure[index] <= _SURE:
            break
        if all(np.hypot(*(centres_mm[index] - centres_mm[other])) > apart_mm for other in picked):
            picked.append(int(index))
    return np.array(picked, dtype=np.intp)


def _least_rest_mm(board: HolesBoard) -> float:
    """How near to an empty hole's middle a flat disk's centre can rest: any nearer it lies beyond the chord between the
    points where its rim crosses the hole's, and the disk tips in."""
    return math.sqrt(board.hole_diameter_mm**2 - board.disk_diameter_mm**2) / 2


def _nearest_apart(points_mm: Floats, others_mm: Floats) -> Floats:
    """How far each point (n, 2) is from the nearest of some others (m, 2); infinitely where there are none."""
    apart_mm = np.linalg.norm(points_mm[:, None] - others_mm, axis=2)
    return np.asarray(apart_mm.min(axis=1, initial=np.inf))


def _paints(profile: Profile) -> tuple[tuple[int, int, int], ...]:
    return tuple(bgr for _, bgr in profile.colours)


def _seen(
    rims: Rims,
    fitted: npt.NDArray[np.intp],
    holes: Holes,
    tilted: npt.NDArray[np.intp],
    at_mm: Floats,
    cells_mm: Floats,
) -> Seen:
    """The recorded colours of the fitted disks, then of the tilted ones, beside the wood near each."""
    samples = rims.samples[fitted, ::_EVERY_RAY]
    top = np.median(samples[:, :, _TOP].reshape(len(fitted), -1, 3), axis=1) if len(fitted) else np.zeros((0, 3))
    ring = samples[:, :, _RING].mean(axis=2)
    # The half of the chamfer that mirrors the lamp least.
    order = np.argsort(ring.sum(axis=2), axis=1)[:, : ring.shape[1] // 2]
    ring = np.take_along_axis(ring, order[:, :, None], axis=1).mean(axis=1) if len(fitted) else np.zeros((0, 3))
    slopes = np.array([_slope_colour(holes, index) for index in tilted]).reshape(-1, 3)
    nearest = np.linalg.norm(at_mm[:, None] - cells_mm, axis=2).argmin(axis=1)
    return Seen(
        np.concatenate([top, slopes]),
        np.concatenate([ring, np.full((len(tilted), 3), np.nan)]),
        np.exp(holes.wood[nearest]) - 4,
    )


def _slope_colour(holes: Holes, index: int) -> Floats:
    """The colour of a tilted disk's face: of the pixels that differ most from an empty hole, the lighter half, since
    the gap beside the disk is dark."""
    odd = np.linalg.norm(holes.residual[index], axis=2)[_HOLE]
    pixels = holes.patches[index][_HOLE][np.argsort(odd)[-_FACE:]]
    lighter = pixels[np.argsort(pixels.mean(axis=1))[_FACE // 2 :]]
    return np.asarray(np.exp(np.median(lighter, axis=0)) - 4)


_FACE = 80
"""Pixels of a patch that a tilted disk's face and the gap beside it fill; less than half of them is gap."""
_OFFSETS = (np.arange(PATCH) - (PATCH - 1) / 2) * 2
_HOLE = np.hypot(*np.meshgrid(_OFFSETS, _OFFSETS)) < 15
