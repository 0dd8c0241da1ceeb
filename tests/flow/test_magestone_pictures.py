"""Games of MageStone are followed from rendered pictures, every go and order as they were, and hands are waited out."""

import json
from pathlib import Path

import cv2
import pytest
from click.testing import CliRunner

from companion.cli import main
from companion.games.magestone import End, State, play, read_go, read_position, start
from companion.simulated_tokens import deeds_of, laid_out
from hardware_sims.token_hands import Deed, do
from hardware_sims.tokens import GRAVE, Picture, TokenTable, render
from hardware_sims.view import View
from vision.board import Image

BOARD = Path(__file__).resolve().parents[2] / "companion" / "boards" / "magestone.toml"
VIEW = View((1920, 1080), fov_x_deg=50.0, tilt_deg=15.0, azimuth_deg=-88.0, distance_mm=880.0, roll_deg=2.0)


class Film:
    """Pictures of a table in a folder, one for each look."""

    def __init__(self, folder: Path, state: State, seed: int = 1) -> None:
        self.folder = folder
        self.table: TokenTable = laid_out(state, seed)
        self.frames = 0
        folder.mkdir(exist_ok=True)

    def shoot(self, *, arm: bool = False) -> None:
        image: Image = render(self.table, VIEW, picture=Picture(jpeg_quality=None), seed=self.frames)
        if arm:
            cv2.line(image, (1000, 1100), (940, 500), (120, 150, 200), 120, cv2.LINE_AA)
        cv2.imwrite(str(self.folder / f"{self.frames:03d}.jpg"), image, [cv2.IMWRITE_JPEG_QUALITY, 92])
        self.frames += 1


def told(folder: Path, *options: str) -> list[dict]:
    """The events that `companion referee` prints for a folder."""
    arguments = ["referee", str(folder), "--game", "magestone", "--board", str(BOARD), "--json", *options]
    run = CliRunner().invoke(main, arguments)
    assert run.exit_code == 0, run.output
    return [json.loads(line) for line in run.stdout.splitlines()]


def filmed(folder: Path, state: State, goes: list[str]) -> None:
    """A picture after each choice and all that it orders, now and then with an arm over the table before it."""
    film = Film(folder, state)
    film.shoot()
    for n, go in enumerate(goes):
        for choice in read_go(go):
            if isinstance(choice, End):
                state = play(state, choice)
                continue
            if n % 3 == 1:
                film.shoot(arm=True)
            after = play(state, choice)
            for deed in deeds_of(state, choice, after):
                do(film.table, deed)
            state = after
            film.shoot()


OPENING = [
    "W1>e1>e2 M>i1>i2>i3>i4 end",
    "M>h14>h13>h12>h11 W1>l14>l13 end",
    "W1>e3>e4>e5 W2>f1>f2>f3 end",
    "W1>l12>l11>l10 P>i14>i13>i12 end",
    "P>h1>h2>h3 W6>l1>l2>l3 end",
    "W6>e14>e13>e12>f12>g12>g11 end",
]


def test_walks_are_followed_and_the_last_go_is_open_at_the_end(tmp_path: Path):
    filmed(tmp_path / "film", start(2), [*OPENING, "W2>f4 end"])
    events = told(tmp_path / "film")
    goes = [(event["n"], event["seat"], event["notation"]) for event in events if event["event"] == "go"]
    assert [(n, seat, _ends(go)) for n, seat, go in goes] == [
        (n, (n - 1) % 2, _ends(go)) for n, go in enumerate(OPENING, 1)
    ]
    assert not [event for event in events if event["event"] in ("undecided", "refused")]
    taken = [[order["cell"] for order in event["orders"]] for event in events if event["event"] == "orders"]
    assert taken == [[[4, 8]], [[11, 7]]]


def _ends(go: str) -> list[str]:
    """Who walks where, whatever the way."""
    return sorted(word.split(">")[0] + word.split(">")[-1] for word in go.split() if word != "end")


FIGHT = "2 Mi0(0+1),Ph0,W1e5,W2f5,W3g6/Mh15,Pi15,W1e9,W2f6 h4,i9* h6,k10 6 0:6:3 - -"


def test_a_fight_that_is_declared_is_checked_on_the_board_and_its_orders_stand_until_they_are_done(tmp_path: Path):
    film = Film(tmp_path / "film", read_position(FIGHT))
    film.shoot()
    for deed in (None, Deed(33, (6, 5)), Deed(GRAVE, end=(6, 5)), Deed(12, (5, 4), (6, 4)), Deed(32, (9, 4), (8, 4))):
        if deed is not None:
            do(film.table, deed)
        film.shoot()
    said = tmp_path / "said.jsonl"
    said.write_text('{"after": 0, "seat": 0, "go": "W2+W3xf6(6+5/2)"}\n')
    events = told(tmp_path / "film", "--position", FIGHT, "--said", str(said))
    orders = [[(order["do"], order["done"]) for order in event["orders"]] for event in events if "orders" in event]
    assert orders == [[("take", False), ("lay", False)]]
    assert [event["frame"] for event in events if event["event"] == "cleared"] == [3]
    goes = [(event["seat"], event["notation"]) for event in events if event["event"] == "go"]
    assert goes == [(0, "W2+W3xf6(6+5/2) W1>e6 end")]


def test_a_fight_that_nobody_could_declare_is_told_by_what_it_leaves(tmp_path: Path):
    film = Film(tmp_path / "film", read_position(FIGHT.replace("W2f5,", "")))
    film.shoot()
    do(film.table, Deed(33, (6, 5)))
    do(film.table, Deed(GRAVE, end=(6, 5)))
    film.shoot()
    do(film.table, Deed(32, (9, 4), (8, 4)))
    film.shoot()
    events = told(tmp_path / "film", "--position", FIGHT.replace("W2f5,", ""))
    assert [(event["seat"], event["notation"]) for event in events if event["event"] == "go"] == [(0, "W3xf6 end")]


BAD = [
    ("no start", ["--said"], "no picture shows the start"),
    ("a position that is none", ["--position", "2 x"], "position"),
    ("no line of JSON", ["--said", "bad"], "line 1"),
]


@pytest.mark.parametrize(("options", "why"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_what_cannot_be_refereed_is_told_in_one_line(options: list[str], why: str, tmp_path: Path):
    film = Film(tmp_path / "film", read_position(FIGHT))
    film.shoot()
    said = tmp_path / "said.jsonl"
    said.write_text("rite\n" if "bad" in options else "")
    given = [str(said) if option == "bad" else option for option in options]
    given += [str(said)] if given == ["--said"] else []
    run = CliRunner().invoke(
        main, ["referee", str(film.folder), "--game", "magestone", "--board", str(BOARD), "--json", *given]
    )
    assert run.exit_code == 1
    assert why in run.stderr
    assert run.stderr.count("\n") == 1
    assert json.loads(run.stdout.splitlines()[-1])["event"] == "end"
