"""What a tap on a square of MageStone's board offers: walks, attacks and Bolts with their odds, or why not."""

from collections.abc import Sequence

from companion.dashboard.follower import Json
from companion.dashboard.magestone_words import MageStoneWords, choice_button
from companion.games.magestone import (
    Activate,
    Attack,
    BeginRite,
    Bolt,
    Choice,
    Collect,
    Dice,
    End,
    Move,
    Nova,
    State,
    Unit,
    declaration_fault,
    dice_for,
    legal_choices,
    odds,
    reach,
    shortest_walks,
    square_name,
    write_choice,
)
from companion.games.magestone.board import distance
from companion.games.magestone.faults import walker_fault
from companion.terms import Cell

_KEYS: dict[Choice, str] = {Nova(): "n", Activate(): "a", Collect(): "c", BeginRite(): "i", End(): "e"}


def options_json(state: State, cell: Cell, words: MageStoneWords) -> Json:
    """What the player to move can do with the own unit on a square, or against an enemy there."""
    standing = state.unit_at(cell)
    if standing is None:
        return {"walks": {}, "attacks": {}, "bolts": {}, "why": ""}
    seat, unit = standing
    mine = seat is state.to_move
    actions = legal_choices(state).actions
    attacks = [
        choice
        for choice in actions
        if isinstance(choice, Attack) and (unit in choice.units if mine else choice.target == cell)
    ]
    bolts = [
        choice
        for choice in actions
        if isinstance(choice, Bolt) and (unit is Unit.MAGE if mine else choice.target == cell)
    ]
    walks = _walks(state, unit, words) if mine else {}
    refused = walker_fault(state, unit) if mine else None
    return {
        "walks": walks,
        "attacks": _by_target(attacks, state),
        "bolts": _by_target(bolts, state),
        "why": "" if refused is None else words.headline(refused),
    }


def actions_json(state: State, words: MageStoneWords) -> list[Json]:
    """The buttons besides walks and attacks, each with why it cannot be pressed; a Bolt is aimed on the board."""
    legal = legal_choices(state).actions
    bolts = [choice for choice in legal if isinstance(choice, Bolt)]
    buttons = [
        {
            "label": "Bolt",
            "key": "b",
            "choice": None,
            "cells": [square_name(bolt.target) for bolt in bolts],
            "why": None if bolts else _no_bolt(state, words),
            "kind": "",
        }
    ]
    for choice, key in _KEYS.items():
        refused = declaration_fault(state, choice)
        buttons.append(
            {
                "label": choice_button(choice),
                "key": key,
                "choice": write_choice(choice),
                "cells": [],
                "why": None if refused is None else words.headline(refused),
                # What is left to do when nothing else can be done.
                "kind": "primary" if len(legal_choices(state)) == 1 and isinstance(choice, End) else "",
            }
        )
    return buttons


def able_json(state: State) -> list[str]:
    """The squares of the units that can do something yet in this go."""
    legal = legal_choices(state)
    able: set[Unit] = {unit for unit in Unit if reach(state, unit)}
    for choice in legal.actions:
        match choice:
            case Attack():
                able |= set(choice.units)
            case BeginRite():
                able.add(Unit.PRIEST)
            case End():
                pass
            case _:
                able.add(Unit.MAGE)
    cells = state.armies[state.to_move].cells
    return [square_name(cell) for unit in sorted(able) if (cell := cells[unit]) is not None]


def dice_json(dice: Dice) -> Json:
    """The dice of a fight with the attacker's exact chance."""
    chance = odds(dice)
    return {
        "dice": str(dice),
        "attacker": list(dice.attacker),
        "defender": list(dice.defender),
        "odds": str(chance),
        "percent": f"{float(chance):.1%}",
    }


def _walks(state: State, unit: Unit, words: MageStoneWords) -> dict[str, list[Json]]:
    return {
        square_name(end): [
            {"choice": write_choice(move), "squares": len(move.path), "note": words.walk(state, move)}
            for move in shortest_walks(state, unit, end)
        ]
        for end in reach(state, unit)
    }


def _by_target(fights: Sequence[Attack | Bolt], state: State) -> dict[str, list[Json]]:
    told: dict[str, list[Json]] = {}
    for fight in fights:
        dice = dice_for(state, fight)
        units = [Unit.MAGE.letter] if isinstance(fight, Bolt) else [unit.letter for unit in fight.units]
        chance = {"dice": None, "odds": "1", "percent": "100%"} if dice is None else dice_json(dice)
        squares = _flight(state, fight) if isinstance(fight, Bolt) else 0
        told.setdefault(square_name(fight.target), []).append(
            {"choice": write_choice(fight), "units": units, "squares": squares, **chance}
        )
    return told


def _flight(state: State, bolt: Bolt) -> int:
    """The squares that a Bolt flies."""
    mage = state.armies[state.to_move].cells[Unit.MAGE]
    assert mage is not None
    return distance(mage, bolt.target)


def _no_bolt(state: State, words: MageStoneWords) -> str:
    """Why no Bolt can be cast, by what is wrong with one at the nearest enemy; a game that goes on has one."""
    mage = state.armies[state.to_move].cells[Unit.MAGE]
    others = (seat for seat in state.remaining if seat is not state.to_move)
    enemies = [cell for seat in others for cell in state.armies[seat].cells if cell is not None]
    refused = declaration_fault(state, Bolt(min(enemies, key=lambda cell: distance(mage or cell, cell))))
    assert refused is not None
    return words.headline(refused)


def cells_of_last(choices: tuple[Choice, ...]) -> list[str]:
    """The squares that the last choice was about: a walk's, or the target's."""
    match choices[-1:]:
        case (Move(path=path),):
            return [square_name(cell) for cell in path]
        case (Attack(target=target) | Bolt(target=target),):
            return [square_name(target)]
        case _:
            return []
