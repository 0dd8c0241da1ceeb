"""Games of MageStone are followed from rendered pictures, every go and order as they were, and hands are waited out."""

import json
from pathlib import Path

import cv2
from click.testing import CliRunner

from companion.cli import main
from companion.games.magestone import End, State, play, read_go, read_position, start
from companion.simulated_tokens import deeds_of, laid_out
from hardware_sims.token_hands import do
from hardware_sims.tokens import Picture, TokenTable, render
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


