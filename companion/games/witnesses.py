"""What camera and sensors tell of a board together, as far as the rules need it.

Where the two contradict each other about a hole, a person says which of them is right; the answer holds for the rest of
the game, as long as they contradict each other in the same way. Of a hole that no camera sees a sensor tells that a
disk lies in it, never whose. A disk that lay there lies there still. One more disk in one hole, and nothing else
changed, is the disk of the player to flick; of all others a person says whose they are.
"""

from dataclasses import replace

from companion.games.at_rest import in_hole
from companion.games.compare import cell_mm, hides
from companion.games.flicks import change_on
from companion.games.position import Doubt, Question, Settled, State, Witness
from companion.inputs import Dispute, Look, SeenDisk
from companion.ruling import Undecided
from companion.terms import Cell, Field, Lying, Player

A_DISK, B_DISK = "a-disk", "b-disk"


def weigh(state: State, look: Look, waiting: Look | None = None) -> Look | Question:
    """What a look shows, by all witnesses: its hidden cells are those of which nobody tells. Or what to ask first.

    What lay in a hole is known from the board, or from the look that waits for another answer.
    """
    disputed = () if state.over else look.disputed
    settled = {one.dispute: one.right for one in state.settled}
    for dispute in disputed:
        if dispute not in settled:
            return _ask_witness(state, dispute, look)
        if settled[dispute] is Witness.SENSOR:
            look = _as_sensed(look, dispute)
    look = _with_known(state, look, () if waiting is None else waiting.disks)
    held = {disk.cell for disk in look.disks if in_hole(disk)}
    unknown = () if state.over else tuple(cell for cell in look.occupied if cell not in held)
    seen = as_told(look)
    if not unknown:
        return seen
    if len(unknown) == 1 and _by_turn(state, seen):
        return replace(seen, disks=(*seen.disks, told_disk(state.setup.field, unknown[0], state.to_flick)))
    return _ask_colour(state, unknown[0], look)


def as_told(look: Look) -> Look:
    """The look with the cells of which nobody tells as its hidden ones; contradictions are as the camera has them."""
    told = {*look.occupied, *look.empty}
    hidden = tuple(cell for cell in look.hidden if cell not in told)
    return replace(look, hidden=hidden, occupied=(), empty=(), disputed=())


def told_disk(field: Field, cell: Cell, colour: Player) -> SeenDisk:
    """A disk of which only the hole is known: its centre lies anywhere within the hole's play."""
    play_mm = (field.hole_diameter_mm - field.disk_diameter_mm) / 2
    return SeenDisk(colour, *cell_mm(field, cell), cell, Lying.IN_CELL, play_mm / 2)


def settle(state: State, look: Look, right: Witness) -> State:
    """The state after a person has said who is right about the first contradiction that was asked."""
    known = {one.dispute for one in state.settled}
    first = next(dispute for dispute in look.disputed if dispute not in known)
    return replace(state, settled=(*state.settled, Settled(first, right)))


def settle_by_board(state: State, look: Look) -> State:
    """The state where a look that a person corrected tells who is right about every contradiction in it."""
    known = {one.dispute for one in state.settled}
    held = {disk.cell for disk in look.disks if in_hole(disk)}
    answers = (
        Settled(one, Witness.CAMERA if (one.seen is not None) is (one.cell in held) else Witness.SENSOR)
        for one in look.disputed
        if one not in known
    )
    return replace(state, settled=(*state.settled, *answers))


def _as_sensed(look: Look, dispute: Dispute) -> Look:
    """The look as the sensor has it: without the disk that the camera sees, or with one whose colour is not seen."""
    if dispute.seen is not None:
        return replace(look, disks=tuple(disk for disk in look.disks if disk.cell != dispute.cell))
    return replace(look, hidden=(*look.hidden, dispute.cell), occupied=(*look.occupied, dispute.cell))


def _with_known(state: State, look: Look, waiting: tuple[SeenDisk, ...]) -> Look:
    """The look with the disks that lie where they lay, as far as nobody sees them: in holes whose sensor tells of a
    disk, and on the surface near hidden holes."""
    if not look.occupied and not look.empty:
        return look
    seen = {disk.cell for disk in look.disks if disk.cell is not None}
    field = state.setup.field
    unmoved = change_on(state, replace(look, hidden=())).lost

    def lies_still(disk: SeenDisk) -> bool:
        if in_hole(disk):
            return disk.cell in look.occupied and disk.cell not in seen
        return hides(field, look.hidden, disk)

    known = tuple(state.disks[index] for index in unmoved if lies_still(state.disks[index]))
    held = {disk.cell for disk in known if in_hole(disk)}
    waits = tuple(disk for disk in waiting if in_hole(disk) and lies_still(disk) and disk.cell not in held)
    return replace(look, disks=(*look.disks, *known, *waits))


def _by_turn(state: State, look: Look) -> bool:
    """Whether one disk more in a hole can only be that of the player to flick: nothing else is new, gone or flew."""
    change = change_on(state, look)
    taken = all(state.board[index].order is not None for index in change.lost)
    flew = all(colour in (None, state.to_flick) for colour in look.flights)
    return not change.found and taken and flew and state.flicks_left(state.to_flick) > 0


def _ask_witness(state: State, dispute: Dispute, look: Look) -> Question:
    row, column = dispute.cell
    sees = "no disk" if dispute.seen is None else f"{dispute.seen.label}'s disk"
    says = "occupied" if dispute.seen is None else "empty"
    asked = Undecided(
        "Important Rules",
        f"the camera sees {sees} at row {row}, column {column}, the sensor there says {says}",
        tuple(f"{witness}-is-right" for witness in Witness),
        state.next_n,
        cells=(dispute.cell,),
        disks=tuple(disk for disk in look.disks if dispute.seen is not None and disk.cell == dispute.cell),
    )
    return Question(Doubt.WITNESS, asked, look)


def _ask_colour(state: State, cell: Cell, look: Look) -> Question:
    asked = Undecided(
        "Important Rules",
        f"the sensor at row {cell[0]}, column {cell[1]} says that a disk lies there; say whose it is",
        (A_DISK, B_DISK),
        state.next_n,
        cells=(cell,),
    )
    return Question(Doubt.COLOUR, asked, look)


def with_colour(state: State, question: Question, colour: Player) -> Look:
    """The look of a question about a disk's colour, with that disk in it."""
    assert question.look is not None
    disk = told_disk(state.setup.field, question.asked.cells[0], colour)
    return replace(question.look, disks=(*question.look.disks, disk))
