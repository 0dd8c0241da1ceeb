"""Whole games as people play them, against a second referee that knows the truth and is written out slowly.

Flicks land, bump and knock off, hands reach over and do nothing, orders are carried out, and every sighting is off by
what its sigma allows.
"""

import math
import random
from dataclasses import dataclass, field

import pytest

from companion.games.compare import cell_mm
from companion.inputs import Declaration, Declared, Look, SeenDisk, Setup
from companion.referee import Referee
from companion.ruling import Accepted, Cleared, GameOver, Shot
from companion.terms import USUAL_FIELD, Lying, Player

SIGMA_MM = 0.3
# Between two rows of holes, in the launch areas, and on the lines, never too close to call.
SURFACE_Y_MM = [20.0, 68.5, 71.5, 121.0, 163.0, 205.0, 247.0, 289.0, 331.0, 373.0, 422.5, 425.5, 470.0]
HOLES = [(row, column) for row in range(1, 9) for column in range(1, 8)]
BETWEEN = [(53.0 + 42 * k, y_mm) for k in range(6) for y_mm in SURFACE_Y_MM]


@dataclass
class Table:
    """Where each disk truly lies: a hole (row, column), or x, y on the surface. A disk is named by player and flick."""

    chance: random.Random
    holes: dict[str, tuple[int, int]] = field(default_factory=dict)
    surface: dict[str, tuple[float, float]] = field(default_factory=dict)

    def names(self) -> list[str]:
        return sorted({**self.holes, **self.surface})

    def take(self, name: str) -> None:
        self.holes.pop(name, None)
        self.surface.pop(name, None)

    def put(self, name: str, before: "Table") -> None:
        """Somewhere free, half of the time in a hole; no disk takes the very place that another has just left."""
        if self.chance.random() < 0.5:
            held = {*self.holes.values(), *before.holes.values()}
            self.holes[name] = self.chance.choice([hole for hole in HOLES if hole not in held])
        else:
            held = [*self.surface.values(), *before.surface.values()]
            free = [place for place in BETWEEN if all(math.dist(place, other) > 28 for other in held)]
            self.surface[name] = self.chance.choice(free)

    def must_come_off(self) -> dict[str, str]:
        orders = {}
        for name, (row, _) in self.holes.items():
            if row == {"a": 1, "b": 8}[name[0]]:
                orders[name] = "own-front-row"
        for name, (_, y_mm) in self.surface.items():
            if y_mm < 70:
                orders[name] = {"a": "own-launch-area", "b": "opposing-launch-area"}[name[0]]
            elif y_mm > 424:
                orders[name] = {"b": "own-launch-area", "a": "opposing-launch-area"}[name[0]]
        return orders

    def far_row(self, player: str) -> int:
        return sum(name[0] == player and row == {"a": 8, "b": 1}[player] for name, (row, _) in self.holes.items())

    def look(self, *, hand: bool, flights: tuple[Player, ...] = ()) -> Look:
        seen = []
        for name, hole in self.holes.items():
            lying = self.chance.choice([Lying.IN_CELL, Lying.IN_CELL, Lying.TILTED])
            seen.append(self.sighting(name, cell_mm(USUAL_FIELD, hole), hole, lying))
        for name, place in self.surface.items():
            seen.append(self.sighting(name, place, None, Lying.FLAT))
        self.chance.shuffle(seen)
        return Look(tuple(seen), (), hand, flights)

    def sighting(self, name, place, cell, lying) -> SeenDisk:
        x_mm, y_mm = (value + self.chance.uniform(-SIGMA_MM, SIGMA_MM) for value in place)
        return SeenDisk(Player(name[0]), x_mm, y_mm, cell, lying, SIGMA_MM)


@pytest.mark.parametrize("seed", range(60))
def test_every_shot_order_and_count_is_right(seed):
    chance = random.Random(seed)
    table = Table(chance)
    first = chance.choice("ab")
    referee = Referee()
    referee.take(Declaration(Declared.START, Setup(starter=Player(first))))
    expected, got, over = [], [], []
    for n in range(1, 25):
        player = first if n % 2 else {"a": "b", "b": "a"}[first]
        rulings = [*referee.take(table.look(hand=chance.random() < 0.7))]

        left = 0
        before = Table(chance, dict(table.holes), dict(table.surface))
        if table.names() and chance.random() < 0.4:
            struck = chance.choice(table.names())
            table.take(struck)
            if chance.random() < 0.5:
                table.put(struck, before)
            else:
                left += 1
        if chance.random() < 0.8:
            table.put(f"{player}{n}", before)
        else:
            left += 1
        rulings += referee.take(table.look(hand=True, flights=(Player(player),)))

        orders = table.must_come_off()
        expected.append((n, player, left, sorted((name[0], why) for name, why in orders.items())))
        if orders:
            for name in orders:
                table.take(name)
            rulings += referee.take(table.look(hand=True))
            expected.append(("cleared",))

        for ruling in rulings:
            assert isinstance(ruling, Accepted), ruling
            match ruling.event:
                case Shot() as shot:
                    off = sorted((order.colour, order.why) for order in ruling.orders if order.do == "remove")
                    got.append((shot.n, shot.player, shot.left_board, off))
                case Cleared():
                    got.append(("cleared",))
                case GameOver() as end:
                    over.append(end.count)
    assert got == expected
    assert over == [(table.far_row("a"), table.far_row("b"))]
