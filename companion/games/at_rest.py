"""The rules on where a disk lies at rest: which must come off, which are too close to call, which score.

Only the resting place counts, not the way there, and not who moved the disk. Rulebook: Quick Start (launch areas and
launch line), Important Rules (own front row, tilted and leaning disks), and the scoring sections.
"""

from collections.abc import Iterable, Iterator, Mapping

from companion.games.match import LINE_LENGTH, Tally
from companion.inputs import SeenDisk
from companion.ruling import Do, Order, Undecided, Why
from companion.terms import Cell, Field, Lying, Player

STAYS = "stays"
COMES_OFF = "comes-off"
LINE_ROWS = 4
"""How many of a player's last rows count in Three in a Row."""


def front_row(field: Field, player: Player) -> int:
    """The row nearest to a player, forbidden to that player's own disks."""
    return 1 if player is Player.A else field.rows


def in_hole(disk: SeenDisk) -> bool:
    """Whether a disk lies in its cell's hole, flat or tilted; one on the surface or leaning does not."""
    return disk.cell is not None and disk.lying in (Lying.IN_CELL, Lying.TILTED)


def order_off(field: Field, disk: SeenDisk) -> Order | None:
    """The order to take a disk off, or None where it stays or is too close to call."""
    if disk.cell is not None and in_hole(disk):
        own_row = disk.cell[0] == front_row(field, disk.colour)
        return order(Do.REMOVE, Why.OWN_FRONT_ROW, disk, "Important Rules") if own_row else None
    _, past_mm = launch_line(field, disk)
    short = past_mm < 0 and not _too_close(past_mm, disk.sigma_mm)
    return launch_area_order(field, disk) if short else None


def launch_area_order(field: Field, disk: SeenDisk) -> Order:
    """The order to take a disk off that lies in the nearer launch area."""
    end, _ = launch_line(field, disk)
    why = Why.OWN_LAUNCH_AREA if end is disk.colour else Why.OPPOSING_LAUNCH_AREA
    return order(Do.REMOVE, why, disk, "Quick Start")


def line_doubt(field: Field, disk: SeenDisk, n: int) -> Undecided | None:
    """The question whether a disk lies past a launch line's middle, where its uncertainty leaves that open."""
    end, past_mm = launch_line(field, disk)
    if in_hole(disk) or not _too_close(past_mm, disk.sigma_mm):
        return None
    side = "past" if past_mm >= 0 else "short of"
    why = (
        f"{disk.colour.label}'s disk is {abs(past_mm):.2f} mm {side} the middle of {end.label}'s launch line, "
        f"sigma {disk.sigma_mm:.2f} mm: too close to call"
    )
    return Undecided("Quick Start", why, (STAYS, COMES_OFF), n, disks=(disk,))


def advice(disk: SeenDisk) -> Order | None:
    """The advice to lay a disk flat that stands at an angle in its hole, or may do so."""
    tilted = disk.lying is Lying.TILTED
    if not in_hole(disk) or not (tilted or disk.perhaps_tilted):
        return None
    return order(Do.LAY_FLAT, Why.TILTED if tilted else Why.PERHAPS_TILTED, disk, "Important Rules")


def order(do: Do, why: Why, disk: SeenDisk, rule: str) -> Order:
    """An order about one disk."""
    return Order(do, why, disk.colour, disk.x_mm, disk.y_mm, disk.cell, rule)


def launch_line(field: Field, disk: SeenDisk) -> tuple[Player, float]:
    """The nearer launch line's player, and how many mm past its middle, towards the board's centre, a disk lies."""
    from_a_mm, from_b_mm = disk.y_mm, field.length_mm - disk.y_mm
    end = Player.A if from_a_mm <= from_b_mm else Player.B
    # To the nanometre, so that decimal sizes cannot put a disk that lies exactly on the line beside it.
    return end, round(min(from_a_mm, from_b_mm) - field.launch_line_mm, 6)


def laid_ready(field: Field, disk: SeenDisk) -> bool:
    """Whether a disk lies wholly in its owner's launch area, where it is laid before it is flicked."""
    end, past_mm = launch_line(field, disk)
    return end is disk.colour and past_mm <= -field.disk_diameter_mm / 2


def on_slab(field: Field, disk: SeenDisk) -> bool:
    """Whether a disk's centre is over the slab; one that balances on a side edge still is."""
    slack_mm = 2 * disk.sigma_mm
    across = -slack_mm <= disk.x_mm <= field.width_mm + slack_mm
    return across and -slack_mm <= disk.y_mm <= field.length_mm + slack_mm


def _too_close(past_mm: float, sigma_mm: float) -> bool:
    return abs(past_mm) < 2 * sigma_mm


def tally(field: Field, disks: Iterable[SeenDisk]) -> Tally:
    """What lies in the scoring holes. A hole holds one disk: where two are seen, the one that lies flat in it."""
    held: dict[Cell, SeenDisk] = {}
    for disk in disks:
        if disk.cell is not None and in_hole(disk):
            other = held.get(disk.cell)
            if other is None or _rank(disk) > _rank(other):
                held[disk.cell] = disk
    owners = {cell: disk.colour for cell, disk in held.items()}
    return Tally(*zip(*(_player_tally(field, owners, player) for player in Player), strict=True))


def _rank(disk: SeenDisk) -> tuple[bool, float]:
    return disk.lying is Lying.IN_CELL, disk.confidence


def _player_tally(field: Field, owners: Mapping[Cell, Player], player: Player) -> tuple[int, int, int]:
    cells = {cell for cell, owner in owners.items() if owner is player}
    far, inwards = (field.rows, -1) if player is Player.A else (1, 1)
    rows = [row for row, _ in cells]
    last_rows = {far + inwards * step for step in range(LINE_ROWS)}
    lines = sum(cells.issuperset(line) for line in _lines(field, last_rows))
    return rows.count(far), rows.count(far + inwards), lines


def _lines(field: Field, rows: set[int]) -> Iterator[list[Cell]]:
    for row in rows:
        for column in range(1, field.columns + 1):
            for down, across in ((0, 1), (1, 0), (1, 1), (1, -1)):
                line = [(row + step * down, column + step * across) for step in range(LINE_LENGTH)]
                if line[-1][0] in rows:
                    yield line
