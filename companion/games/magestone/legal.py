"""What the player to move can choose, listed at any point of a go, and the walks to a square.

All units walk at once: each has a board of its own in one integer, and each step spreads them all. The list is a
sequence that makes a choice when it is asked for, since most players look at few of hundreds.
"""

from collections.abc import Iterator
from itertools import combinations

from companion.games.magestone.board import (
    AROUND_BITS,
    BASES,
    BIT,
    LANE,
    NEIGHBOURS,
    NEXUS,
    NEXUS_BITS,
    ON_BOARD,
    STRIDE,
    WITHIN_BITS,
    cells_of,
    spread,
)
from companion.games.magestone.choices import (
    Activate,
    Attack,
    BeginRite,
    Bolt,
    Choice,
    Collect,
    End,
    Move,
    Nova,
)
from companion.games.magestone.pieces import NOVA_STONES, UNITS_A_GO, WARRIORS, Unit
from companion.games.magestone.play import breaks_rite, can_raise, raises
from companion.games.magestone.state import State, enemy_bits, taken_bits
from companion.terms import Cell

_UNITS = tuple(Unit)
_SEED = tuple({cell: bit << LANE * unit for cell, bit in BIT.items()} for unit in _UNITS)
_HALVES = tuple((width, (1 << width) - 1) for width in (4 * LANE, 2 * LANE, LANE, 144, 72, 36, 18, 9, 5, 3, 2, 1))
_CELL_AT = tuple(divmod(place, STRIDE) for place in range(LANE))
_NEAR_BITS = tuple(sum(BIT[near] for near in NEIGHBOURS.get(cell, ())) for cell in _CELL_AT)
_PRIEST_LANE = (1 << LANE) - 1 << LANE * Unit.PRIEST
_ATTACKERS = (Unit.MAGE, *WARRIORS)
_END = End()


class Choices:
    """All legal choices, each once: for every unit and square one shortest walk, then what else can be done; End last.

    To a gravestone that a Priest raises from there is a walk for each square to come from, since it steps back there.
    Attacks and Bolts stand without dice. Other walks within the squares left are legal too; `shortest_walks` has those
    of the same length that differ in what follows.
    """

    __slots__ = ("_count", "_layers", "_raising", "_walk_count", "_walks", "actions")

    def __init__(self, state: State) -> None:
        self._layers: list[int] = []
        self._walks = self._walk_count = self._count = 0
        self._raising: list[tuple[int, Cell]] = []
        self.actions: tuple[Choice, ...] = ()
        """Everything but walks"""
        if state.result is not None:
            return
        mine, theirs = state.armies[state.to_move].bits, enemy_bits(state, state.to_move)
        if state.units_left and state.squares_left:
            self._walk(state, ON_BOARD ^ mine ^ theirs)
            if state.graves and self._walks & _PRIEST_LANE and can_raise(state):
                self._take_out_raising(state)
            self._walk_count = self._walks.bit_count()
        self.actions = (*_actions(state, mine, theirs), _END)
        self._count = self._walk_count + len(self._raising) + len(self.actions)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Choice:
        if index < 0:
            index += self._count
        if index < 0:
            raise IndexError("no such choice")
        if index < self._walk_count:
            return self._move(_place_of(self._walks, index))
        index -= self._walk_count
        if index < len(self._raising):
            return self._raise(*self._raising[index])
        return self.actions[index - len(self._raising)]

    def __iter__(self) -> Iterator[Choice]:
        walks = self._walks
        while walks:
            lowest = walks & -walks
            yield self._move(lowest.bit_length() - 1)
            walks ^= lowest
        for back, grave in self._raising:
            yield self._raise(back, grave)
        yield from self.actions

    def _walk(self, state: State, free: int) -> None:
        """Spread the units that may move over the free squares, step by step."""
        reached, gone, cells = 0, (*state.moved, *state.acted), state.armies[state.to_move].cells
        for unit in _UNITS:
            if unit not in gone:
                reached |= _SEED[unit][cells[unit]]
        free |= free << LANE
        free |= free << 2 * LANE
        free |= free << 4 * LANE
        for _ in range(state.squares_left):
            reached = (reached | reached << 1 | reached >> 1 | reached << STRIDE | reached >> STRIDE) & free
            self._layers.append(reached)
        self._walks = reached

    def _take_out_raising(self, state: State) -> None:
        """Where the Priest raises a Warrior, its walk stands once for each square that it can come from."""
        seeds = _SEED[Unit.PRIEST]
        backs = seeds[state.armies[state.to_move].cells[Unit.PRIEST]]
        if state.squares_left > 1:
            backs |= self._layers[-2] & _PRIEST_LANE
        for grave in state.graves:
            if self._walks & seeds[grave]:
                self._walks ^= seeds[grave]
                for near in NEIGHBOURS[grave]:
                    if backs & seeds[near]:
                        self._raising.append((seeds[near].bit_length() - 1, grave))

    def _move(self, place: int) -> Move:
        """The walk that a bit of the last layer stands for."""
        unit, at = divmod(place, LANE)
        return Move(_UNITS[unit], _path(self._layers, at, place - at))

    def _raise(self, back: int, grave: Cell) -> Move:
        """The Priest's walk to a gravestone by way of the square, as a place in its lane, that it steps back to."""
        at = back % LANE
        reached = any(layer >> back & 1 for layer in self._layers)
        before = _path(self._layers, at, back - at) if reached else ()
        return Move(Unit.PRIEST, (*before, grave))


def legal_choices(state: State) -> Choices:
    """What the player to move can choose; nothing once the game is over."""
    return Choices(state)


def reach(state: State, unit: Unit) -> tuple[Cell, ...]:
    """The squares that a unit of the player to move can walk to."""
    at = state.armies[state.to_move].cells[unit]
    if state.result is not None or at is None or not state.units_left or unit in (*state.moved, *state.acted):
        return ()
    layers = _layers(at, ON_BOARD ^ taken_bits(state), state.squares_left)
    return tuple(cells_of(layers[-1])) if layers else ()


def shortest_walks(state: State, unit: Unit, end: Cell) -> tuple[Move, ...]:
    """The shortest walks to a square, one for each way in which the game goes on after them; none where none is legal.

    They differ where a Priest raises a Warrior and steps back, and where a walk can break a Rite or leave it.
    """
    if end not in reach(state, unit):
        return ()
    at, most = state.armies[state.to_move].cells[unit], state.squares_left
    assert at is not None
    walks: dict[tuple[Cell | None, bool], Move] = {}
    for back in sorted(NEIGHBOURS[end]) if raises(state, unit, end) else (None,):
        ways = _ways(state, at, end, most) if back is None else [()] if back == at else _ways(state, at, back, most - 1)
        for way in ways:
            move = Move(unit, way if back is None else (*way, end))
            walks.setdefault((back, breaks_rite(state, move)), move)
    return tuple(walks.values())


def _ways(state: State, start: Cell, end: Cell, most: int) -> list[tuple[Cell, ...]]:
    """Shortest walks to a square; where a Rite is running, also around the Nexus and by way of each of its squares."""
    free = ON_BOARD ^ taken_bits(state)
    shortest = _walk(start, end, free, most)
    if shortest is None:
        return []
    walks = [shortest]
    if state.rite is not None:
        others = [_walk(start, end, free & ~NEXUS_BITS, most)]
        others += [_by_way_of(start, by, end, free, most) for by in NEXUS]
        walks += [walk for walk in others if walk is not None]
    return [walk for walk in walks if len(walk) == len(shortest)]


def _layers(start: Cell, free: int, most: int) -> list[int]:
    """The squares that can be reached in at most 1, 2, 3 ... steps."""
    layers, reached = [], BIT[start]
    for _ in range(most):
        reached = spread(reached) & free
        layers.append(reached)
    return layers


def _path(layers: list[int], at: int, shift: int = 0) -> tuple[Cell, ...]:
    """The walk to a place of the board that stands at `shift` in each layer, back from its end through the layers."""
    path, step, place = [_CELL_AT[at]], 0, at + shift
    while not layers[step] >> place & 1:
        step += 1
    for layer in layers[:step][::-1]:
        at = (layer >> shift & _NEAR_BITS[at]).bit_length() - 1
        path.append(_CELL_AT[at])
    return tuple(path[::-1])


def _walk(start: Cell, end: Cell, free: int, most: int) -> tuple[Cell, ...] | None:
    """A shortest walk over free squares, of at most so many steps."""
    layers = _layers(start, free, most)
    return _path(layers, BIT[end].bit_length() - 1) if layers and layers[-1] & BIT[end] else None


def _by_way_of(start: Cell, by: Cell, end: Cell, free: int, most: int) -> tuple[Cell, ...] | None:
    """A shortest walk that enters a given square on its way."""
    first = _walk(start, by, free, most)
    second = _walk(by, end, free, most)
    return None if first is None or second is None else (*first, *second)


def _actions(state: State, mine: int, theirs: int) -> list[Choice]:
    """What can be done besides walking and ending the go."""
    actions: list[Choice] = []
    army = state.armies[state.to_move].cells
    mage, priest = army[Unit.MAGE], army[Unit.PRIEST]
    if spread(mine) & theirs:
        actions += _attacks(state, theirs)
    if mage is not None and _may_act(state, Unit.MAGE):
        hand = state.hands[state.to_move]
        if hand.activated:
            actions += map(Bolt, cells_of(WITHIN_BITS[mage][state.squares_left] & theirs))
            if hand.activated >= NOVA_STONES and AROUND_BITS[mage] & theirs:
                actions.append(Nova())
        if hand.carried and mage in BASES[state.to_move]:
            actions.append(Activate())
        if mage in state.unactivated or mage in state.activated:
            actions.append(Collect())
    if priest in NEXUS and state.rite is None and not NEXUS_BITS & theirs and _may_act(state, Unit.PRIEST):
        actions.append(BeginRite())
    return actions


def _attacks(state: State, theirs: int) -> Iterator[Attack]:
    army = state.armies[state.to_move].cells
    able = [unit for unit in _ATTACKERS if army[unit] is not None and _may_act(state, unit)]
    reached = 0
    for unit in able:
        reached |= BIT[army[unit]]
    for target in cells_of(spread(reached) & theirs):
        near = [unit for unit in able if army[unit] in NEIGHBOURS[target]]
        for unit in near:
            yield Attack((unit,), target)
        warriors = [unit for unit in near if unit is not Unit.MAGE]
        for number in range(2, min(len(warriors), UNITS_A_GO) + 1):
            for group in combinations(warriors, number):
                if sum(unit not in state.moved for unit in group) <= state.units_left:
                    for lead in group:
                        yield Attack((lead, *(unit for unit in group if unit is not lead)), target)


def _may_act(state: State, unit: Unit) -> bool:
    return unit not in state.acted and (state.units_left > 0 or unit in state.moved)


def _place_of(bits: int, index: int) -> int:
    """Where the set bit with this number stands, counted from the lowest, both from 0."""
    place = 0
    for width, mask in _HALVES:
        low = bits & mask
        below = low.bit_count()
        if index < below:
            bits = low
        else:
            bits >>= width
            index -= below
            place += width
    return place
