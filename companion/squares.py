"""A camera over a board of squares: watches it, and turns a picture of it at rest into a look for Pathstone's rules.

What is policy stands here: which heights are supposed where, what counts as a hand, and from what share on a square is
told without the rules.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from companion.games.pathstone import Belief, Look, State, believe, contested, judge_look, tops_of
from companion.games.pathstone.lines import CLEAR, scale_of
from companion.games.pathstone.looks import UNSEEN_TOP, height, stack_of
from companion.games.pathstone.state import successors_of
from companion.sources import Glance, NoiseMemory, Place, side_of_a
from vision import motion
from vision.board import Image, Pieces, Profile, SquaresBoard
from vision.calibration import Calibration, CalibrationError
from vision.camera import Frame
from vision.follow import follow_board
from vision.heights import StackViews
from vision.lattice import find_board
from vision.nets import Array
from vision.pieces import TOPS, PiecesSeen, read_pieces

_COVERED = 0.5
"""From this share on something else covers a square."""
_SURE = 0.6
"""A square whose likeliest top has less than this share is not told where no position before is known."""
_HAND_FLATS = 1.0
"""What has changed beside the board, in flats: so much is a hand."""
_MOST_STATES = 4
"""The heights of so many of the likeliest lines are supposed; more would take long and change little."""
_ELSEWHERE_SHARE = 0.2
"""Of the watched board: where so much differs and the board is not seen again, it has left its place."""
_MOST_CANDIDATES = 60


class SquaresCamera:
    """One camera over one board of squares. `watch` takes every picture, `look` those of a table at rest."""

    def __init__(self, profile: Profile, calibration: Calibration) -> None:
        board = profile.board
        if not isinstance(board, SquaresBoard):
            raise ValueError("pieces are watched over a board of squares")
        self.calibration = calibration
        self.tops: tuple[str, ...] = ()
        """What the last look told without the rules, a string a rank from rank 1 on."""
        self._profile = profile
        flat_mm = (profile.pieces or Pieces()).flat_mm[0]
        self._board = board
        self._flat_mm = flat_mm
        self._view = motion.view_of_board(calibration, board.corners_mm(), flat_mm)
        self._rest: Image | None = None
        """The picture by which the calibration holds."""
        self._before: Image | None = None
        self._small: Image | None = None
        self._still: motion.Still | None = None
        self._noise = NoiseMemory()
        self._paints: Array | None = None

    def watch(self, frame: Frame) -> Glance:
        """What the picture shows besides the board at rest."""
        small = motion.small_picture(frame.image_bgr, self._view)
        before, self._before, self._small = self._small, self._small, small
        if before is None:
            self._rest = frame.image_bgr
            return Glance(moved=True)
        still = self._still or motion.still_from(before, self._noise.now)
        moved = motion.has_moved(small, before, still, self._view)
        if self._still is None:
            return Glance(moved)
        changed = motion.changes(small, motion.relit(self._still.picture, small), self._still)
        hand = motion.area_beside(changed, self._view) > _HAND_FLATS * self._view.disk_px**2
        return Glance(moved, hand, hand or motion.changed_board(changed, self._view))

    def follow(self, frame: Frame) -> Place:
        """Where the board is by this picture, the one last watched; found again from where it was if it moved."""
        if self._rest is None or self._small is None:
            return Place.SAME
        as_was = 1.0 if self._still is None else self._changed_share(self._still, self._view)
        try:
            moved = follow_board(self._rest, frame.image_bgr, self.calibration, self._board.corners_mm())
        except CalibrationError:
            if self._still is None:
                # A camera that begins may have been dark: the corners that people gave stand.
                self._rest = frame.image_bgr
                return Place.SAME
            return Place.LOST if as_was > _ELSEWHERE_SHARE else Place.SAME
        if moved is self.calibration:
            return Place.SAME
        view = motion.view_of_board(moved, self._board.corners_mm(), self._flat_mm, self._view.shrink)
        if self._still is not None:
            still = motion.moved_still(self._still, self.calibration, moved, view.shrink)
            # Where the board is not, hardly anything is as it was.
            if self._changed_share(still, view) > max(as_was / 2, _ELSEWHERE_SHARE):
                return Place.LOST if as_was > _ELSEWHERE_SHARE else Place.SAME
            self._still = still
        self.calibration, self._view, self._rest = moved, view, frame.image_bgr
        return Place.MOVED

    def find_anywhere(self, frame: Frame) -> bool:
        """Whether the board is found without knowing where it was; what it looked like at rest is then forgotten."""
        try:
            found = find_board(frame.image_bgr, self._profile, side_of_a(self.calibration, self._board))
        except CalibrationError:
            return False
        self._view = motion.view_of_board(found, self._board.corners_mm(), self._flat_mm, self._view.shrink)
        self.calibration, self._rest, self._still = found, frame.image_bgr, None
        return True

    def look(self, frame: Frame, belief: Belief) -> Look | None:
        """The board in this picture, the one last watched, for what is believed of the game; None under a hand."""
        states = [belief.state, *belief.past[-2:-1], *(line.state for line in belief.lines[:_MOST_STATES])]
        seen = read_pieces(
            frame.image_bgr, self.calibration, self._profile, supposed_below(states), paints=self._paints
        )
        if (seen.covered > _COVERED).any():
            return None
        self._paints = seen.paints
        self.tops = tops_alone(seen)
        if self._before is not None and self._small is not None:
            self._noise.learn(self._before, self._small)
        if self._small is not None:
            self._still = motion.still_from(self._small, self._noise.now)
        self._rest = frame.image_bgr
        views = StackViews(frame.image_bgr, self.calibration, self._profile, seen.paints)
        return with_heights(look_from_pieces(seen), belief, views)

    def _changed_share(self, still: motion.Still, view: motion.View) -> float:
        assert self._small is not None
        changed = motion.changes(self._small, motion.relit(still.picture, self._small), still)
        return motion.changed_share(changed, view)


def supposed_below(states: Iterable[State]) -> list[set[int]]:
    """For each square how many pieces may lie under its uppermost one: as in these states, or after any legal move."""
    found: list[set[int]] = []
    for state in dict.fromkeys(states):
        found = found or [set() for _ in state.squares]
        boards: list[Sequence[int]] = [state.squares]
        if state.result is None:
            boards += [squares for _, squares, _ in successors_of(state)]
        for squares in boards:
            for supposed, square in zip(found, squares, strict=True):
                supposed.add(max(height(square) - 1, 0))
    return found


def look_from_pieces(seen: PiecesSeen) -> Look:
    """What was seen as the rules take it; a covered square as unseen."""
    rows = zip(np.log(seen.tops).tolist(), seen.covered.tolist(), strict=True)
    return Look(tuple(UNSEEN_TOP if covered > _COVERED else tuple(tops) for tops, covered in rows))


def with_heights(look: Look, belief: Belief, views: StackViews) -> Look:
    """The look with the heights that tell moves apart whose tops are alike; unchanged where they do not settle it.

    They settle it where one position is clearly likelier than all others, by tops and stacks together.
    """
    candidates = judge_look(belief, look)[0].candidates
    if not 1 < len(candidates) <= _MOST_CANDIDATES:
        return look
    likely = views.likely_boards([[stack_of(square) for square in state.squares] for state in candidates])
    scale = scale_of(look)
    likely -= [sum(map(scale.square, range(len(state.squares)), state.squares)) for state in candidates]
    open_squares = [candidates[0].index(one.cell) for one in contested(candidates)]
    best, second = np.sort(likely)[:-3:-1]
    if best - second < CLEAR:
        return look
    true = candidates[int(likely.argmax())]
    heights: list[tuple[float, ...]] = [()] * len(look.tops)
    for square in open_squares:
        right = height(true.squares[square])
        heights[square] = tuple(0.0 if n == right else -2 * CLEAR for n in range(right + 2))
    return replace(look, heights=tuple(heights))


def tops_alone(seen: PiecesSeen) -> tuple[str, ...]:
    """The tops that are told without any rules, a string a rank from rank 1 on; ? where that is not sure."""
    size = math.isqrt(len(seen.tops))
    told = (seen.covered <= _COVERED) & (seen.tops.max(axis=1) >= _SURE)
    signs = [TOPS[top] if sure else "?" for top, sure in zip(seen.tops.argmax(axis=1), told, strict=True)]
    return tuple("".join(signs[n : n + size]) for n in range(0, len(signs), size))


def states_after(before: State, seen: PiecesSeen, views: StackViews) -> tuple[State, ...]:
    """The positions that the likeliest moves lead to, as far as neither tops nor heights in a picture tell them apart.

    None where no legal move explains what is seen.
    """
    look = with_heights(look_from_pieces(seen), believe(before), views)
    candidates = judge_look(believe(before), look)[0].candidates
    return candidates if candidates and scale_of(look).against(candidates[0].squares) is not None else ()


def tops_in_all(states: Sequence[State]) -> tuple[str, ...]:
    """The tops of states, a string a rank from rank 1 on; ? where they differ."""
    size = states[0].size
    boards = ("".join(tops_of(state)) for state in states)
    signs = [same[0] if len(set(same)) == 1 else "?" for same in zip(*boards, strict=True)]
    return tuple("".join(signs[n : n + size]) for n in range(0, len(signs), size))


def heights_in_all(states: Sequence[State]) -> list[list[int | None]]:
    """How many pieces each square holds in all of some states, rank 1 first; None where they differ."""
    size = states[0].size
    boards = ([height(square) for square in state.squares] for state in states)
    told = [same[0] if len(set(same)) == 1 else None for same in zip(*boards, strict=True)]
    return [told[n : n + size] for n in range(0, len(told), size)]


def hidden_squares(seen: PiecesSeen) -> list[list[int]]:
    """Row and column, from 1, of the squares that something else covers."""
    size = math.isqrt(len(seen.tops))
    return [[int(n) // size + 1, int(n) % size + 1] for n in np.flatnonzero(seen.covered > _COVERED)]
