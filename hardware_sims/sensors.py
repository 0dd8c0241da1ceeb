"""The sensors under a grid's cells: what lies there, and what each sensor says of it from moment to moment.

Pieces are put down and lifted at any time. A contact bounces before it stays; a sensor can be stuck; and a matrix
without diodes sees a piece where three others stand at the corners of a rectangle. The device's firmware sees `level`
alone, the truth is in `occupied`.
"""

import heapq
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounce:
    """A contact that opens and closes for a while before it stays."""

    longest_ms: float
    """A train of edges ends within this time."""
    shortest_ms: float = 1.0
    cells: tuple[int, ...] = ()
    """() for all."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """A sensor that says the same whatever lies on it; a dead one says False."""

    cell: int
    occupied: bool


@dataclass(frozen=True, slots=True)
class Ghosts:
    """A matrix without diodes: where three corners of a rectangle are occupied, the fourth is seen so as well."""


SensorFault = Bounce | Stuck | Ghosts


class Sensors:
    """The sensors of rows x columns cells, by index along the rows. Times are in seconds of any one steady clock."""

    def __init__(self, rows: int, columns: int, faults: Sequence[SensorFault] = (), *, seed: int = 0) -> None:
        self.rows, self.columns = rows, columns
        self._occupied = [False] * (rows * columns)
        self._contact = [False] * (rows * columns)
        self._rng = random.Random(seed)
        self._edges: list[tuple[float, int, int, bool]] = []
        self._made = 0
        self.suffer(faults)

    def suffer(self, faults: Sequence[SensorFault]) -> None:
        """These faults and no others from now on."""
        self._bounces = [fault for fault in faults if isinstance(fault, Bounce)]
        self._stuck = {fault.cell: fault.occupied for fault in faults if isinstance(fault, Stuck)}
        self._ghosts = any(isinstance(fault, Ghosts) for fault in faults)
        self.levels = self._seen()
        """What the sensors say just now."""

    @property
    def occupied(self) -> tuple[bool, ...]:
        """Where something lies, in truth."""
        return tuple(self._occupied)

    def put(self, cell: int, occupied: bool, t_s: float) -> None:
        """A piece comes to lie on the cell, or is taken off."""
        if self._occupied[cell] == occupied:
            return
        self._occupied[cell] = occupied
        # A piece that is lifted while its contact still bounces cuts that train short.
        self._edges = [edge for edge in self._edges if edge[2] != cell]
        heapq.heapify(self._edges)
        for at_s, level in self._train(cell, occupied, t_s):
            self._made += 1
            heapq.heappush(self._edges, (at_s, self._made, cell, level))

    def due_s(self) -> float:
        """When a contact changes next; infinity where nothing is on its way."""
        return self._edges[0][0] if self._edges else math.inf

    def advance(self, t_s: float) -> None:
        """Lets the contacts change as far as they do by then."""
        changes = self.due_s() <= t_s
        while self._edges and self._edges[0][0] <= t_s:
            _, _, cell, level = heapq.heappop(self._edges)
            self._contact[cell] = level
        if changes:
            self.levels = self._seen()

    def _seen(self) -> tuple[bool, ...]:
        seen = self._with_ghosts(self._contact) if self._ghosts else list(self._contact)
        for cell, occupied in self._stuck.items():
            seen[cell] = occupied
        return tuple(seen)

    def _train(self, cell: int, occupied: bool, t_s: float) -> list[tuple[float, bool]]:
        """Edges that alternate and end at the level that stays."""
        bounce = next((one for one in self._bounces if not one.cells or cell in one.cells), None)
        if bounce is None:
            return [(t_s, occupied)]
        length_s = self._rng.uniform(bounce.shortest_ms, bounce.longest_ms) / 1000
        inner_s = sorted(self._rng.uniform(0, length_s) for _ in range(2 * self._rng.randint(0, 4) + 1))
        return [(t_s + at_s, occupied != bool(n % 2)) for n, at_s in enumerate((0.0, *inner_s, length_s))]

    def _with_ghosts(self, seen: list[bool]) -> list[bool]:
        """A key at (r, c) is seen where r and c are joined by closed contacts, however long the way round."""
        group = list(range(self.rows + self.columns))

        def root(node: int) -> int:
            while group[node] != node:
                node = group[node]
            return node

        for cell, closed in enumerate(seen):
            if closed:
                row, column = divmod(cell, self.columns)
                group[root(row)] = root(self.rows + column)
        return [root(cell // self.columns) == root(self.rows + cell % self.columns) for cell in range(len(seen))]


class Debounce:
    """What firmware takes its sensors to be: a change counts when it has lasted `lasts_s`."""

    def __init__(self, levels: tuple[bool, ...], lasts_s: float) -> None:
        self.lasts_s = lasts_s
        self.occupied = levels
        self._raw = levels
        self._since_s: dict[int, float] = {}

    def due_s(self) -> float:
        """When the next change has lasted long enough; infinity where none is under way."""
        return min(self._since_s.values(), default=math.inf) + self.lasts_s

    def look(self, levels: tuple[bool, ...], t_s: float) -> list[tuple[int, float]]:
        """Takes what the sensors say now; the cells that changed, each with the time since when it lasts."""
        if levels is self._raw and not self._since_s:
            return []
        for cell, (now, before) in enumerate(zip(levels, self._raw, strict=True)):
            if now == self.occupied[cell]:
                self._since_s.pop(cell, None)
            elif now != before:
                self._since_s[cell] = t_s
        self._raw = levels
        changed = [(cell, since_s) for cell, since_s in self._since_s.items() if since_s + self.lasts_s <= t_s]
        for cell, _ in changed:
            del self._since_s[cell]
        if changed:
            occupied = list(self.occupied)
            for cell, _ in changed:
                occupied[cell] = levels[cell]
            self.occupied = tuple(occupied)
        return changed
