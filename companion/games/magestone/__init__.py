"""MageStone: the whole game for two and four players.

`board` has the squares, `pieces` the words, `state` a game as a frozen value, `choices` what a player can choose,
`dice` rolls and odds, `faults` why a choice is refused, `play` what it does, `defeats` and `endings` what follows,
`legal` the list of choices, `rulings` and `orders` what people are told, `position` and `notation` the texts.
"""

from companion.games.magestone.board import (
    BASES,
    CELLS,
    HOMES,
    LAYOUTS,
    NEXUS,
    Layout,
    on_board,
    square_from_name,
    square_name,
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
from companion.games.magestone.defeats import besieged
from companion.games.magestone.dice import Dice, Roll, odds, power_die, throw, winner
from companion.games.magestone.endings import ending
from companion.games.magestone.faults import declaration_fault, dice_for, fault, left
from companion.games.magestone.legal import Choices, legal_choices, reach, shortest_walks
from companion.games.magestone.notation import (
    Record,
    read_choice,
    read_go,
    read_record,
    replay,
    write_choice,
    write_go,
    write_record,
)
from companion.games.magestone.orders import Do, Order, Token, orders
from companion.games.magestone.pieces import (
    SEATED,
    SEATS,
    UNITS_BY_LETTER,
    WARRIORS,
    Ending,
    Hand,
    Result,
    Rite,
    Seat,
    Unit,
)
from companion.games.magestone.play import play
from companion.games.magestone.position import NotationError, flaw, read_position, write_position
from companion.games.magestone.rulings import as_played, game_over, judge
from companion.games.magestone.state import Army, State, army_of, start

__all__ = [
    "BASES",
    "CELLS",
    "HOMES",
    "LAYOUTS",
    "NEXUS",
    "SEATED",
    "SEATS",
    "UNITS_BY_LETTER",
    "WARRIORS",
    "Activate",
    "Army",
    "Attack",
    "BeginRite",
    "Bolt",
    "Choice",
    "Choices",
    "Collect",
    "Dice",
    "Do",
    "End",
    "Ending",
    "Hand",
    "Layout",
    "Move",
    "NotationError",
    "Nova",
    "Order",
    "Record",
    "Result",
    "Rite",
    "Roll",
    "Seat",
    "State",
    "Token",
    "Unit",
    "army_of",
    "as_played",
    "besieged",
    "declaration_fault",
    "dice_for",
    "ending",
    "fault",
    "flaw",
    "game_over",
    "judge",
    "left",
    "legal_choices",
    "odds",
    "on_board",
    "orders",
    "play",
    "power_die",
    "reach",
    "read_choice",
    "read_go",
    "read_position",
    "read_record",
    "replay",
    "shortest_walks",
    "square_from_name",
    "square_name",
    "start",
    "throw",
    "winner",
    "write_choice",
    "write_go",
    "write_position",
    "write_record",
]
