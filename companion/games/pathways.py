"""Pathways: judges the board at rest, and folds what is seen and said into one game."""

from dataclasses import dataclass, replace

from companion.games.match import Tally
from companion.inputs import Declaration, DiskCorrection, Look, SeenDisk, Setup
from companion.ruling import Accepted, Cleared, Order, Ruling, Shot, Undecided
from companion.terms import Player

DISKS_EACH = 12


@dataclass(frozen=True, slots=True)
class Resting:
    """A disk on the board; with an order it has to come off, and out of count it stays without counting."""

    disk: SeenDisk
    order: Order | None = None
    counts: bool = True


@dataclass(frozen=True, slots=True)
class State:
    """One game: who is to flick, how many each has flicked (A first), the board, and questions nobody answered yet."""

    setup: Setup
    to_flick: Player
    used: tuple[int, int] = (0, 0)
    board: tuple[Resting, ...] = ()
    questions: tuple[Undecided, ...] = ()
    last_shot: Shot | None = None
    ended: bool = False

    @property
    def orders(self) -> tuple[Order, ...]:
        """Orders to take disks off that are not carried out yet."""
        return tuple(resting.order for resting in self.board if resting.order is not None)

    @property
    def over(self) -> bool:
        """Whether the game is finished: all flicked and cleared, or ended by the players."""
        return self.ended or (sum(self.used) == 2 * DISKS_EACH and not self.orders)

    def flicks_left(self, player: Player) -> int:
        """How many disks a player has still to flick."""
        return DISKS_EACH - self.used[list(Player).index(player)]


def start(setup: Setup, starter: Player | None = None) -> State:
    """A new game; `starter` is the set-up's where none is given."""
    return State(setup, setup.starter if starter is None else starter)


def judge(state: State, given: Look | Declaration | DiskCorrection) -> tuple[State, tuple[Ruling, ...]]:
    """What follows from one input: the state after it and the rulings; none where nothing happened."""
    if isinstance(given, Look) and (given.flights or len(given.disks) != len(state.board)):
        if state.orders and len(given.disks) == len(state.board) - len(state.orders):
            rest = tuple(resting for resting in state.board if resting.order is None)
            return replace(state, board=rest), (Accepted("Important Rules", "the board is cleared", Cleared()),)
        player = state.to_flick
        used = (state.used[0] + (player is Player.A), state.used[1] + (player is Player.B))
        shot = Shot(sum(used), player, given.disks, max(0, len(state.board) + 1 - len(given.disks)))
        board = tuple(Resting(disk) for disk in given.disks)
        after = replace(state, to_flick=player.other, used=used, board=board, last_shot=shot)
        return after, (Accepted("Quick Start", f"flick {shot.n} by {player.label}", shot),)
    return state, ()


def tally(state: State) -> Tally:
    """What lies in the scoring holes now."""
    field = state.setup.field
    far = {Player.A: field.rows, Player.B: 1}
    counts = [
        sum(resting.disk.cell is not None and resting.disk.cell[0] == far[player] for resting in state.board)
        for player in Player
    ]
    return Tally((counts[0], counts[1]))
