"""`companion judge`: the rules alone, JSON lines in and out."""

import json
import sys

import click

from companion.cli.options import fail
from companion.judge import JUDGES


@click.command()
@click.argument("game", type=click.Choice(list(JUDGES)))
@click.option("--json", is_flag=True, expose_value=False, help="Answers are JSON with and without it.")
def judge(game: str) -> None:
    """Answers JSON lines from stdin about GAME by the rules alone: a set-up first, then one input a line."""
    told = JUDGES[game]()
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        try:
            answer = told.answer(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            fail(f"line {number} is not JSON ({error}); give one JSON object a line")
        print(json.dumps(answer), flush=True)
