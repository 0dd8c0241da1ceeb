"""Whether the sensors of a grid are a matrix without diodes, by what they feel and what a camera sees.

In such a matrix a cell is also felt where other occupied ones join its row to its column, however long the way round: a
ghost. A cell that is joined so and says empty shows that there are diodes. One alone may be dead; two prove it.
"""

from collections.abc import Mapping

from companion.terms import Cell

_PROOF = 2
"""So many cells."""


class Diodes:
    """What is known of one grid. `says` is what the sensors say that are believed, by cell."""

    def __init__(self) -> None:
        self.missing = False
        """Whether a camera has seen that cells are felt wrongly, and nothing has shown since that there are diodes."""
        self._spared: set[Cell] = set()
        """Cells that were joined and said empty."""

    def ghosts(self, says: Mapping[Cell, bool]) -> frozenset[Cell]:
        """The cells that say occupied and may be empty, for all that is known."""
        if len(self._spared) >= _PROOF:
            return frozenset()
        return _explained(says, _joined(says)) - self._spared

    def learn(self, says: Mapping[Cell, bool], still: Mapping[Cell, bool], seen: Mapping[Cell, bool]) -> None:
        """Takes what the sensors say, what those that have been `still` do, and what a camera surely saw, by cell."""
        joined = _joined(says)
        wrong = {cell for cell in _explained(says, joined) if seen.get(cell) is False}
        if len(wrong) >= _PROOF:
            self._spared.clear()
        self._spared |= {cell for cell in joined if still.get(cell) is False}
        if len(self._spared) >= _PROOF:
            self.missing = False
        elif wrong - self._spared:
            self.missing = True


def _explained(says: Mapping[Cell, bool], joined: set[Cell]) -> frozenset[Cell]:
    """The cells that would say occupied without diodes in any case; none where one that is joined says empty."""
    if any(says.get(cell) is False for cell in joined):
        return frozenset()
    return frozenset(cell for cell in joined if says.get(cell))


def _joined(says: Mapping[Cell, bool]) -> set[Cell]:
    """The cells whose row and column are joined by others that say occupied."""
    groups: list[tuple[set[int], set[int]]] = []
    for row, column in (cell for cell, occupied in says.items() if occupied):
        touched = [group for group in groups if row in group[0] or column in group[1]]
        groups = [group for group in groups if group not in touched]
        groups.append(({row}.union(*(rows for rows, _ in touched)), {column}.union(*(cols for _, cols in touched))))
    # A cell in a row or column of its own is joined by itself alone.
    several = [(rows, columns) for rows, columns in groups if len(rows) > 1 and len(columns) > 1]
    return {(row, column) for rows, columns in several for row in rows for column in columns}
