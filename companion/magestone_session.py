"""The loop for a table of MageStone: pictures -> settle -> the table -> store, and in between what people say."""

from collections.abc import Callable, Iterable, Sequence
from queue import Queue

from companion.games.magestone.looks import Look
from companion.games.magestone.table import Begin, Input, Seen, Table, take
from companion.live import Live, Watch
from companion.magestone_grid import TokensGrid
from companion.ruling import Refused, Ruling, Undecided
from companion.settle import Patience
from companion.store import MageStoneStore, Match
from companion.tokens import TokensLoop
from vision.board import Profile
from vision.camera import Frame


class MageStoneSession(TokensLoop[Input]):
    """One table of MageStone and its players: `run` takes pictures until they end, `sense` goes without a camera.

    `tell` hears what is ruled on each input. What people say comes by the queue `said`.
    """

    def __init__(
        self,
        tell: Callable[[Input, tuple[Ruling, ...]], None],
        *,
        profile: Profile | None = None,
        corners_px: Sequence[tuple[float, float]] | None = None,
        patience: Patience | None = None,
        table: Table | None = None,
        store: MageStoneStore | None = None,
        match: Match | None = None,
        live: Live | None = None,
        said: Queue[Input] | None = None,
        grid: TokensGrid | None = None,
    ) -> None:
        """A profile is needed where pictures are taken."""
        super().__init__(profile, corners_px=corners_px, patience=patience, live=live, said=said)
        self.table = table
        self._tell = tell
        self._store = store
        self._match = match
        self._grid = grid
        self._rulings: tuple[Ruling, ...] = ()
        """The last that were given"""

    def sense(self, ticks: Iterable[None]) -> None:
        """Goes by what people say alone, for as long as it ticks. Raises StoreError."""
        self._live.watch(Watch.WATCHING)
        for _ in ticks:
            self._hear()
            self._go_on()
        self._hear()

    def _go_on(self) -> None:
        if self._grid is None:
            return
        self._grid.hear()
        game = None if self.table is None else self.table.game
        about = tuple(cell for ruling in self._rulings for cell in ruling.cells)
        asked = any(isinstance(ruling, Undecided) for ruling in self._rulings)
        refused = any(isinstance(ruling, Refused) for ruling in self._rulings)
        self._grid.light(
            None if game is None else game.state,
            tapped=self._live.tapped(),
            orders=() if game is None else game.orders,
            wrong=about if refused else (),
            asked=about if asked else None,
        )

    def _take(self, given: Input) -> None:
        before = self.table
        self.table, rulings = take(before, given)
        self._rulings = rulings or self._rulings
        if self.table is not before:
            # Whoever thought of moving a unit thought of another position.
            self._live.tap(None)
        if self._store is not None and (rulings or self.table != before):
            if isinstance(given, Begin) and self.table is not before:
                self._match = self._store.begin(given, rulings)
            elif self._match is not None:
                self._store.append(self._match, given, rulings)
        self._tell(given, rulings)

    def _looked(self, look: Look, frame: Frame) -> None:
        if self.table is not None:
            self._take(Seen(look, frame.n, frame.t_s))
