"""The loop for a table of MageStone: what people say -> the table -> store."""

from collections.abc import Callable, Iterable
from queue import Queue

from companion.games.magestone.table import Begin, Input, Table, take
from companion.live import Live, Watch
from companion.loop import Loop
from companion.ruling import Ruling
from companion.store import MageStoneStore, Match


class MageStoneSession(Loop[Input]):
    """One table of MageStone and its players; what they say comes by the queue `said`.

    `tell` hears what is ruled on each input.
    """

    def __init__(
        self,
        tell: Callable[[Input, tuple[Ruling, ...]], None],
        *,
        table: Table | None = None,
        store: MageStoneStore | None = None,
        match: Match | None = None,
        live: Live | None = None,
        said: Queue[Input] | None = None,
    ) -> None:
        super().__init__(None, live, said)
        self.table = table
        self._tell = tell
        self._store = store
        self._match = match

    def sense(self, ticks: Iterable[None]) -> None:
        """Goes by what people say alone, for as long as it ticks. Raises StoreError."""
        self._live.watch(Watch.WATCHING)
        for _ in ticks:
            self._hear()
        self._hear()

    def _take(self, given: Input) -> None:
        before = self.table
        self.table, rulings = take(before, given)
        if self._store is not None and rulings:
            if isinstance(given, Begin) and self.table is not before:
                self._match = self._store.begin(given, rulings)
            elif self._match is not None:
                self._store.append(self._match, given, rulings)
        self._tell(given, rulings)
