"""A table of MageStone under a simulated camera: twenty goes as they were played, hands, a knock, and the LEDs."""

import random
from queue import Queue, SimpleQueue

import cv2

from companion.games.magestone import (
    BASES,
    Attack,
    Choice,
    End,
    Move,
    Seat,
    State,
    legal_choices,
    play,
    read_choice,
    read_position,
    square_from_name,
    start,
    write_go,
    write_position,
)
from companion.games.magestone.table import Begin, Chosen, Input
from companion.goes import thrown
from companion.lights import DIM, WHITE, dimmed
from companion.live import Live, Watch
from companion.magestone_grid import TokensGrid
from companion.magestone_lights import SEAT_COLOURS
from companion.magestone_session import MageStoneSession
from companion.ruling import Accepted, Refused, Ruling, Undecided
from companion.settle import SETTLED_ALREADY, Patience
from companion.simulated_tokens import deeds_of, laid_out
from companion.tokens import TokensCamera, tokens_camera
from firmware_protocol.driver import DARK, Rgb
from firmware_protocol.link import Counters
from hardware_sims.token_hands import do
from hardware_sims.tokens import STANDARD, Picture, TokenTable, render
from hardware_sims.view import View
from vision.board import Image, Marks, Profile
from vision.camera import Frame

PROFILE = Profile(STANDARD, (), marks=Marks())
VIEW = View((1920, 1080), fov_x_deg=50.0, tilt_deg=12.0, azimuth_deg=-91.0, distance_mm=860.0, roll_deg=-1.5)


def picture(hands: TokenTable, n: int, view: View = VIEW) -> Image:
    return render(hands, view, picture=Picture(jpeg_quality=90), seed=n)


class Sitting:
    """A session over a table that hands change, with all rulings that it gave."""

    def __init__(self, state: State, seed: int = 0, grid: TokensGrid | None = None) -> None:
        self.hands = laid_out(state, seed)
        self.given: list[tuple[Input, tuple[Ruling, ...]]] = []
        self.live = Live()
        self.session = MageStoneSession(
            lambda given, rulings: self.given.append((given, rulings)),
            profile=PROFILE,
            patience=SETTLED_ALREADY,
            live=self.live,
            said=Queue(),
            grid=grid,
        )
        self.frames = 0
        names = ("Ada", "Ben") if len(state.seats) == 2 else ("Ada", "Ben", "Cleo", "Dan")
        self.session.say(Begin(names, record=f'[Position "{write_position(state)}"]'))

    def see(self, image: Image | None = None) -> tuple[Ruling, ...]:
        """Takes one picture of the table at rest; what was ruled on it."""
        before = len(self.given)
        shown = picture(self.hands, self.frames) if image is None else image
        self.session.run([Frame(self.frames, self.frames * 1.0, shown)])
        self.frames += 1
        return tuple(ruling for _, rulings in self.given[before:] for ruling in rulings)

    @property
    def state(self) -> State:
        assert self.session.table is not None
        return self.session.table.game.state


def drawn(state: State, chance: random.Random) -> Choice:
    """A choice, an act where there is one."""
    legal = legal_choices(state)
    acts = [act for act in legal.actions if not isinstance(act, End)]
    walks = [walk for walk in legal if isinstance(walk, Move) and len(walk.path) > 2]
    choice = chance.choice(acts or walks or [End()])
    return thrown(state, choice, chance)


def test_twenty_goes_are_followed_as_they_were_played():
    chance = random.Random(11)
    truth = start(2)
    sitting = Sitting(truth, seed=11)
    sitting.see()
    goes, go, fights = 0, 0, 0
    while goes < 20:
        choice = drawn(truth, chance) if go < 2 else End()
        before, truth = truth, play(truth, choice)
        if not isinstance(choice, Move):
            # What hands have done before it is on the board; the rest is said.
            if before != sitting.state:
                sitting.see()
            sitting.session.say(Chosen(choice))
            fights += isinstance(choice, Attack)
        for deed in deeds_of(before, choice, truth):
            do(sitting.hands, deed)
        go = 0 if isinstance(choice, End) else go + 1
        goes += isinstance(choice, End)
    sitting.see()
    assert fights >= 2
    ruled = [ruling for _, rulings in sitting.given for ruling in rulings]
    assert not [ruling for ruling in ruled if isinstance(ruling, (Refused, Undecided))]
    assert sitting.state == truth
    assert sitting.session.table is not None
    assert sitting.session.table.game.orders == ()


FIELD = "2 Mi0(0+1),Ph0,W1e5,W2f5,W3g6/Mh15,Pi15,W1e9,W2f6 h4,i9* h6,k10 6 0:6:3 - -"


def with_arm(image: Image) -> Image:
    reached = image.copy()
    cv2.line(reached, (1000, 1100), (940, 500), (120, 150, 200), 120, cv2.LINE_AA)
    return reached


def test_a_hand_is_waited_out_and_what_it_did_is_seen_after_it():
    sitting = Sitting(read_position(FIELD))
    sitting.see()
    before = sitting.state
    assert sitting.see(with_arm(picture(sitting.hands, 1))) == ()
    assert sitting.live.watching()[0] is Watch.HAND
    sitting.hands.move(square_from_name("e5"), square_from_name("e7"))
    assert sitting.see(with_arm(picture(sitting.hands, 2))) == ()
    assert sitting.state == before
    (walked,) = sitting.see()
    assert isinstance(walked, Accepted)
    assert sitting.live.watching()[0] is Watch.WATCHING
    shown = sitting.live.picture()
    assert shown is not None
    assert (square_from_name("e7"), "0W1") in shown.tokens


def test_a_stream_of_pictures_is_looked_at_once_it_is_at_rest():
    hands = laid_out(read_position(FIELD))
    ruled: list[Ruling] = []
    session = MageStoneSession(lambda _given, rulings: ruled.extend(rulings), profile=PROFILE, patience=Patience())
    session.say(Begin(("Ada", "Ben"), record=f'[Position "{FIELD}"]'))
    stills = [picture(hands, 0), picture(hands, 1)]
    hands.move(square_from_name("e5"), square_from_name("e6"))
    after = [picture(hands, 2), picture(hands, 3)]
    film = [
        *stills * 4,
        *[with_arm(image) for image in stills] * 2,
        *[with_arm(image) for image in after] * 2,
        *after * 4,
    ]
    session.run(Frame(n, n / 10, image) for n, image in enumerate(film))
    assert session.table is not None
    assert write_go(session.table.game.choices) == "W1>e6"
    assert not [ruling for ruling in ruled if not isinstance(ruling, Accepted)]


def test_a_knocked_camera_is_found_again_by_the_marks():
    sitting = Sitting(read_position(FIELD))
    sitting.see()
    sitting.hands.move(square_from_name("e5"), square_from_name("e7"))
    knocked = View((1920, 1080), fov_x_deg=50.0, tilt_deg=14.0, azimuth_deg=-89.0, distance_mm=880.0, roll_deg=1.0)
    (walked,) = sitting.see(picture(sitting.hands, 1, knocked))
    assert isinstance(walked, Accepted)
    assert write_go(sitting.session.table.game.choices) == "W1>e6>e7"


def test_what_looks_as_it_did_is_not_read_again():
    hands = laid_out(read_position(FIELD))
    camera: TokensCamera = tokens_camera(Frame(0, 0.0, picture(hands, 0)), PROFILE)
    first = camera.look(Frame(0, 0.0, picture(hands, 0)))
    assert camera.look(Frame(1, 1.0, picture(hands, 1))) == first
    hands.move(square_from_name("e5"), square_from_name("e6"))
    second = camera.look(Frame(2, 2.0, picture(hands, 2)))
    assert first is not None
    assert second is not None
    assert {cell for cell, _ in first.tops} ^ {cell for cell, _ in second.tops} == {(5, 4), (6, 4)}


def test_the_leds_show_the_go_and_what_is_ordered():
    shown: list[tuple[Rgb, ...]] = []
    clock = [0.0]
    live = Live()
    grid = TokensGrid(PROFILE, SimpleQueue(), shown.append, Counters, live, clock=lambda: clock[0])
    sitting = Sitting(read_position(FIELD), grid=grid)
    sitting.see()
    index = {cell: n for n, cell in enumerate(grid.cells)}
    lit = {cell for cell, n in index.items() if shown[-1][n] != DARK}
    assert lit == {(row + 1, column + 1) for row, column in BASES[Seat.TOP]}
    assert {shown[-1][index[cell]] for cell in lit} == {dimmed(SEAT_COLOURS[Seat.TOP], DIM)}
    sitting.session.say(Chosen(read_choice("W2+W3xf6(6+6/1)")))
    clock[0] = 1.0
    sitting.session.run([None])
    assert shown[-1][index[7, 6]] == WHITE
    clock[0] = 1.6
    sitting.session.run([None])
    assert shown[-1][index[7, 6]] == DARK
