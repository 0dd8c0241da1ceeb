"""Simulated players of Pathstone: what they play, when they go on, and what they answer the referee.

They know the rules and see what the referee believes. A referee who has not seen a move is told it, as people would on
the page.
"""

import random
import time
from collections.abc import Callable
from dataclasses import replace
from queue import Queue
from typing import TYPE_CHECKING

from companion.games.pathstone import Kind, Move, Placement, Slide, State, legal_moves, play, start, threats, write_move
from companion.games.pathstone.series import Begin, Input, Played, Said, Saying, Series
from vision.board import SquaresBoard

if TYPE_CHECKING:
    from companion.inferring import Turn
    from companion.store import Resume
    from hardware_sims.stacks_players import Told

NAMES = ("Ada", "Ben")
_BLOCKS, _SLIDES = 0.85, 0.35
_LIKED = {Kind.FLAT: 1.0, Kind.WALL: 0.12, Kind.CROWN: 0.25}
_PATIENCE_S = 12.0
"""So long they wait to be understood before they say on the page what they played."""
_ADMIRE_S = 6.0
"""A finished game is looked at for so long."""
_MOST_PLIES = 70
"""Then they agree on a draw."""


class Players:
    """Both players' minds: `told` is what their hands do next."""

    def __init__(
        self,
        seed: int,
        series: Callable[[], Series | None],
        said: "Queue[Input | Resume]",
        size: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._chance = random.Random(seed)
        self._series = series
        self._said = said
        self._clock = clock
        self._size = size
        self._state = start(size)
        """The truth."""
        self._last: Move | None = None
        self._games = 1
        self._since_s = clock()
        self._cleared = False
        said.put(Begin(NAMES, size))

    def told(self) -> "Told":
        """What to do now, by what the referee believes."""
        from hardware_sims.stacks_players import Told

        series, now_s = self._series(), self._clock()
        if series is None or len(series.games) < self._games:
            return Told()
        belief = series.game.belief
        if belief.state.result is not None:
            return self._after_the_game(now_s)
        if belief.state.squares != self._state.squares or belief.state.ply != self._state.ply or belief.questions:
            self._insist(series, now_s)
            return Told()
        if self._state.ply >= _MOST_PLIES:
            self._say(Saying(Said.DRAW), now_s)
            return Told()
        move = chosen(self._state, self._chance)
        player = self._state.to_move.value
        self._state = play(self._state, move)
        self._last = move
        self._since_s = now_s + _PATIENCE_S
        return Told(write_move(move), player)

    def _after_the_game(self, now_s: float) -> "Told":
        from hardware_sims.stacks_players import Told

        if self._state.ply:
            self._state = start(self._size)
            self._since_s = now_s + _ADMIRE_S
            self._cleared = False
        if now_s < self._since_s:
            return Told()
        if not self._cleared:
            self._cleared = True
            return Told(clear=True)
        self._games += 1
        self._say(Saying(Said.NEXT_GAME), now_s)
        return Told()

    def _insist(self, series: Series, now_s: float) -> None:
        """Answers what is asked, and in time says what was played."""
        belief, n = series.game.belief, self._state.ply
        if self._last is None:
            return
        played = write_move(self._last)
        asked = next((number for number, candidates in belief.questions if played in candidates), None)
        if asked is not None and now_s >= self._since_s - _PATIENCE_S + 2.0:
            self._say(Played(self._last, asked), now_s)
        elif now_s >= self._since_s and belief.state.ply == n - 1:
            self._say(Played(self._last, n), now_s)

    def _say(self, given: Input, now_s: float) -> None:
        self._said.put(given)
        self._since_s = now_s + _PATIENCE_S


def chosen(state: State, chance: random.Random) -> Move:
    """A move much as people play: they complete a path, mostly block the other's, build, and slide now and then."""
    won = threats(state, state.to_move)
    if won:
        return won[0]
    legal = legal_moves(state)
    feared = {move.cell for move in threats(state, state.to_move.other) if isinstance(move, Placement)}
    blocks = [move for move in legal if isinstance(move, Placement) and move.cell in feared]
    if blocks and chance.random() < _BLOCKS:
        return chance.choice(blocks)
    slides = [move for move in legal if isinstance(move, Slide)]
    placements = [move for move in legal if isinstance(move, Placement)]
    if not placements or (slides and chance.random() < _SLIDES):
        return chance.choice(slides)
    return chance.choices(placements, [_LIKED[move.kind] for move in placements])[0]


def turns_in_mid_game(size: int, count: int, size_wh: tuple[int, int] = (1920, 1080)) -> "list[Turn]":
    """Moves in the middle of random games, with their rendered pictures; game n has the seed n."""
    from companion.inferring import Turn
    from hardware_sims.camera import Camera, Settings
    from hardware_sims.squares import Scene, Sizes
    from hardware_sims.stacks import StacksTable
    from hardware_sims.view import View
    from hardware_sims.virtual_stacks import PROFILE, ROOM
    from vision.draw import encode_jpeg

    board = SquaresBoard(size, size, 50.0)
    view = View(size_wh, fov_x_deg=60.0, tilt_deg=14.0, distance_mm=2.1 * board.length_mm)
    profile = replace(PROFILE, board=board, fov_x_deg=view.fov_x_deg)
    turns = []
    for seed in range(count):
        chance, state, table = random.Random(seed), start(size), StacksTable(board, seed=seed)
        while state.ply < size * size - 2 + seed % 5:
            last, move = state, chosen(state, chance)
            after = play(state, move)
            if after.result is not None:
                state = last = start(size)
                table.clear()
                continue
            before, state = table.pieces(), after
            table.play(write_move(move))
        camera = Camera(Scene(board, Sizes(), replace(ROOM, seed=seed)), view, Settings(oversampling=1, exposure=0.9))
        pictures = [camera.read(pieces) for pieces in (before, table.pieces())]
        was, now = (picture for picture in pictures if picture is not None)
        turns.append(Turn(last, was, encode_jpeg(now, quality=90), view.calibration(board), profile))
    return turns
