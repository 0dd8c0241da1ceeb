"""Dice: which are rolled, whether a roll can be, who wins it, and the exact odds. A roll is told, never made here."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction
from functools import cache
from itertools import product


class Fighter(Enum):
    """A side of a fight."""

    ATTACKER = auto()
    DEFENDER = auto()


@dataclass(frozen=True, slots=True)
class Dice:
    """The dice that a fight calls for: the sides of each, attacker's and defender's."""

    attacker: tuple[int, ...]
    defender: tuple[int, ...]

    def __str__(self) -> str:
        """2d6 against 1d12."""
        return " against ".join(f"{len(sides)}d{sides[0]}" for sides in (self.attacker, self.defender))


@dataclass(frozen=True, slots=True)
class Roll:
    """What both sides' dice show."""

    attacker: tuple[int, ...]
    defender: tuple[int, ...]


def power_die(activated: int) -> int:
    """The sides of the die of a Mage that holds so many Activated stones."""
    return 20 if activated >= 4 else 12 if activated >= 2 else 6


def winner(roll: Roll) -> Fighter | None:
    """The side with the higher total; None for a tie."""
    attacker, defender = sum(roll.attacker), sum(roll.defender)
    if attacker == defender:
        return None
    return Fighter.ATTACKER if attacker > defender else Fighter.DEFENDER


def decisive(rolls: tuple[Roll, ...]) -> Roll | None:
    """The first roll that is no tie; None where there is none yet."""
    return next((roll for roll in rolls if winner(roll) is not None), None)


def roll_fault(dice: Dice, roll: Roll) -> str | None:
    """Why these dice cannot show a roll; None where they can."""
    for side, sides, shown in (
        ("attacker", dice.attacker, roll.attacker),
        ("defender", dice.defender, roll.defender),
    ):
        if len(shown) != len(sides):
            return f"the {side} rolls {len(sides)}d{sides[0]}, not {len(shown)} dice"
        for number, most in zip(shown, sides, strict=True):
            if not 1 <= number <= most:
                return f"the {side}'s d{most} cannot show {number}"
    return None


def dice_fault(dice: Dice, rolls: tuple[Roll, ...]) -> str | None:
    """Why rolls do not decide a fight with these dice; None where they do. Rolls after a decisive one are spare."""
    for roll in rolls:
        if (why := roll_fault(dice, roll)) is not None:
            return why
    if not rolls:
        return f"the dice are missing: {dice}"
    if decisive(rolls) is None:
        return f"a tie at {sum(rolls[-1].attacker)} is rolled again: {dice}"
    return None


def throw(dice: Dice, die: Callable[[int], int]) -> Roll:
    """A roll of the dice by `die`, which gives a number from 1 to the sides that it is told."""
    return Roll(tuple(map(die, dice.attacker)), tuple(map(die, dice.defender)))


@cache
def odds(dice: Dice) -> Fraction:
    """The attacker's chance to win, exactly; ties are rolled again, so only the other rolls count."""
    wins = dict.fromkeys(Fighter, 0)
    attacks = product(*(range(1, sides + 1) for sides in dice.attacker))
    defences = tuple(product(*(range(1, sides + 1) for sides in dice.defender)))
    for attack, defence in product(attacks, defences):
        won = winner(Roll(attack, defence))
        if won is not None:
            wins[won] += 1
    return Fraction(wins[Fighter.ATTACKER], sum(wins.values()))
