"""The command line: `companion` and its commands, each in the module of its name; arguments, wiring and exit codes.

Of the application only these modules know the simulators.
"""

import click

from companion.cameras import cameras_command
from companion.cli.bench import bench
from companion.cli.demo import demo
from companion.cli.judge import judge
from companion.cli.observe import observe
from companion.cli.pathstone import pathstone
from companion.cli.ports import ports
from companion.cli.referee import referee
from companion.cli.run import run
from companion.cli.teach import teach
from companion.doctor import doctor_command
from companion.printing.command import print_command
from companion.simulated import replay_command, soak_command


@click.group()
def main() -> None:
    """A companion for games on a physical board: it sees, rules, keeps score and shows it."""


for _command in (
    observe,
    referee,
    demo,
    run,
    judge,
    pathstone,
    teach,
    print_command,
    doctor_command,
    cameras_command,
    ports,
    bench,
    soak_command,
    replay_command,
):
    main.add_command(_command)
