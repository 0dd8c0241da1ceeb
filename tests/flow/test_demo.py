"""The demo, from flick to page: turns on the simulated table are seen through its camera and ruled as they were."""

import json
import math
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from queue import Queue
from typing import Any
from urllib.request import urlopen

import pytest

from companion.inputs import Correction, Declaration, Declared, Input, Look, Setup
from companion.referee import Referee
from companion.ruling import Accepted, Ruling, Shot, Undecided
from companion.session import Session
from companion.simulated import called, put_said
from companion.terms import Field, Mode
from hardware_sims import virtual
from hardware_sims.disks import STANDARD, Disk
from hardware_sims.players import DISKS_EACH, Flicked
from vision.camera import Frame

SURE_MM = 1.5
"""So far from a launch line's middle nothing is too close to call."""


def owed(disk: Disk) -> str | None:
    """Why a disk at rest has to come off, told from its true place by a second, plain reading of the rulebook."""
    own_row = 1 if disk.colour == "a" else STANDARD.rows
    if disk.cell is not None:
        return "own-front-row" if disk.cell[0] == own_row else None
    beyond_a = disk.y_mm < STANDARD.launch_line_mm
    beyond_b = disk.y_mm > STANDARD.length_mm - STANDARD.launch_line_mm
    if not beyond_a and not beyond_b:
        return None
    return "own-launch-area" if beyond_a is (disk.colour == "a") else "opposing-launch-area"


def close_to_a_line(disk: Disk) -> bool:
    off_mm = min(disk.y_mm, STANDARD.length_mm - disk.y_mm) - STANDARD.launch_line_mm
    return disk.cell is None and abs(off_mm) < SURE_MM


class Played:
    """Some flicks played and refereed, as fast as the computer can: the truth, and what the referee said."""

    def __init__(self, seed: int, flicks: int) -> None:
        self.referee = Referee()
        self.said: Queue[Declaration | Correction] = Queue()
        self.rulings: list[tuple[Input, Ruling]] = []
        self.table = virtual.table(seed, lambda: called(self.referee.standing), self._hear, pause_s=0.3)
        session = Session(virtual.PROFILE, self.referee, self._tell, said=self.said)
        field = Field(**asdict(STANDARD))
        self.said.put(Declaration(Declared.START, Setup(Mode.MATCH, field=field)))
        session.run(self._frames(flicks))

    @property
    def truth(self) -> list[Flicked]:
        return self.table.players.flicked

    def shots(self) -> list[tuple[Shot, Accepted]]:
        """Every flick that the referee counted, with its ruling."""
        accepted = [ruling for _, ruling in self.rulings if isinstance(ruling, Accepted)]
        return [(ruling.event, ruling) for ruling in accepted if isinstance(ruling.event, Shot)]

    def _frames(self, flicks: int) -> Iterator[Frame]:
        for moment in self.table.players.play():
            image = self.table.camera.read((*moment.disks, *moment.held), moment.arms, moment.t_s)
            if image is not None:
                yield Frame(moment.n, moment.t_s, image)
            if len(self.truth) > flicks or moment.n > 80 * flicks:
                return

    def _hear(self, words: str) -> None:
        put_said(self.referee.standing, self.said, words)

    def _tell(self, given: Input, rulings: tuple[Ruling, ...]) -> None:
        self.rulings += [(given, ruling) for ruling in rulings]


FLICKS = 9


@pytest.fixture(scope="module", params=[2, 5])
def played(request) -> Played:
    print("seed", request.param)
    return Played(request.param, FLICKS)


def test_every_flick_is_counted_once_and_for_the_right_player(played):
    shots = [(shot.n, shot.player.value) for shot, _ in played.shots()][:FLICKS]
    assert shots == [(flick.n, flick.player) for flick in played.truth[:FLICKS]]


def test_nothing_is_made_of_hands_that_reach_over(played):
    looks_ruled = [
        given for given, ruling in played.rulings if isinstance(given, Look) and isinstance(ruling, Accepted)
    ]
    assert len({look.frame for look in looks_ruled}) == len(looks_ruled)
    assert not [ruling for _, ruling in played.rulings if isinstance(ruling, Undecided) and not ruling.disks]


def test_every_disk_is_seen_where_it_truly_lies(played):
    for flick, (shot, _) in zip(played.truth[:FLICKS], played.shots(), strict=False):
        left = list(shot.disks)
        for disk in (disk for disk in flick.disks if disk.lying != "beside"):
            away = {seen: math.hypot(seen.x_mm - disk.x_mm, seen.y_mm - disk.y_mm) for seen in left}
            nearest = min(away, key=lambda seen: away[seen], default=None)
            assert nearest is not None, f"flick {flick.n}: {disk} is not seen"
            assert away[nearest] < (6.0 if disk.tilt_deg else 2.0), f"flick {flick.n}: {disk}, seen {nearest}"
            assert (nearest.colour.value, nearest.cell) == (disk.colour, disk.cell)
            left.remove(nearest)
        assert not left, f"flick {flick.n}: {left} are invented"


def test_exactly_the_disks_that_have_to_come_off_are_ordered_off(played):
    for flick, (_, ruling) in zip(played.truth[:FLICKS], played.shots(), strict=False):
        if any(close_to_a_line(disk) for disk in flick.disks):
            continue
        expected = sorted((disk.colour, why) for disk in flick.disks if (why := owed(disk)))
        ordered = sorted((order.colour.value, order.why.value) for order in ruling.orders if order.do == "remove")
        assert ordered == expected, f"flick {flick.n}"


def get(url: str) -> str:
    with urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def state(url: str) -> dict[str, Any]:
    return json.loads(get(f"{url}/state"))


def flicks_left(url: str) -> int:
    return sum(player.get("left", DISKS_EACH) for player in state(url)["players"].values())


def test_the_demo_serves_its_page_plays_and_stops_at_once_without_a_word(tmp_path):
    errors = tmp_path / "errors.txt"
    command = [sys.executable, "-c", "from companion.cli import main; main()", "demo", "--port", "0", "--seed", "3"]
    with errors.open("w") as stderr:
        demo = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, cwd=Path(__file__).parent)
    try:
        assert demo.stdout is not None
        url = demo.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), errors.read_text()
        assert "Simulated" in get(url)
        assert state(url)["simulated"] is True
        assert state(url)["game"] == "Pathways"
        deadline = time.monotonic() + 120
        while flicks_left(url) == 2 * DISKS_EACH and time.monotonic() < deadline:
            time.sleep(0.5)
        assert flicks_left(url) < 2 * DISKS_EACH, "no flick has been ruled"
        grid = json.loads(get(f"{url}/grid"))
        assert (grid["state"], grid["simulated"]) == ("there", True)
        assert any(cell["light"] for cell in grid["cells"])
        demo.send_signal(signal.SIGTERM)
        assert demo.wait(timeout=30) == 0, errors.read_text()
    finally:
        demo.kill()
        demo.wait()
        demo.stdout.close()
    assert errors.read_text() == ""


def test_a_port_that_is_taken_is_told_in_one_line():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        command = [sys.executable, "-c", "from companion.cli import main; main()", "demo", "--port", port]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1
    assert port in ended.stderr
    assert "--port" in ended.stderr
