"""The command line: arguments, wiring and exit codes."""

import click


@click.group()
def main() -> None:
    """A companion for games on a physical board: it sees, rules, keeps score and shows it."""
