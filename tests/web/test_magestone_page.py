"""Claims about the page of MageStone in a real browser: a match played by tapping, dice, its past and records."""

import random
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import expect

import companion
from companion.dashboard import create_magestone_app
from companion.games.magestone import (
    Attack,
    Bolt,
    Draw,
    Move,
    Roll,
    Unit,
    legal_choices,
    play,
    read_choice,
    read_record,
    replay,
    shortest_walks,
    square_name,
    write_choice,
)
from companion.games.magestone.looks import Look, uppermost
from companion.games.magestone.table import Begin, Chosen, Said, Saying, Seen, Thrower, Thrown
from companion.goes import thrown
from companion.live import Live
from companion.magestone_session import MageStoneSession
from companion.store import MageStoneStore
from vision.board import read_profile

BOARD = Path(companion.__file__).with_name("boards") / "magestone.toml"
PHONE = {"width": 390, "height": 844}
TELEVISION = {"width": 1920, "height": 1080}
TWO, FOUR = ("Ada", "Ben"), ("Ada", "Ben", "Cleo", "Dan")
FIGHT = '[Position "2 Mi0,Ph0,W1e5,W2f4/Mh15(0+2),Pi15,W1f5,W2l15 h4 - 8 0:6:3 - -"]'
SORCERY = '[Position "2 Mh6(2+4),Ph7,W1d5/Mj6(0+2),Pg5,W1h14 - d4 8 0:6:3 - -"]'
RAISING = '[Position "2 Mh6(2+4),Ph1,W1d5/Mj6(0+2),Pg9,W1h14 - h4,f9 6 0:6:3 - -"]'
FULL = (
    '[Position "4 Mk0(1+4),Ph0,W1h5,W2g6,W3l0,W4k3,W5m5,W6i6/Pn6,W1p11,W2n9,W6j6/Mk8(3+2),Ph7,W1h10,W2j15,W3p4,W4m12,'
    'W5e14,W6n11/Mc6,Pa5,W1f7,W2f9,W3g12,W4d9 g5,e7,l8,e7*,l7* h2,m2,g5,p5,l6 4 0:6:3 1M 2:1"]'
)
"""Many units, a Rite that is running, a siege, stones and gravestones under units and beside each other."""


@pytest.fixture
def table(log, run_table):
    def seat(said):
        live = Live()
        store = MageStoneStore(log, live.ring)
        match = store.latest()
        session = MageStoneSession(
            lambda _given, _rulings: None,
            table=None if match is None else store.resume(match),
            store=store,
            match=match,
            live=live,
            said=said,
        )
        return live, store, session, create_magestone_app(store, live, said, read_profile(BOARD), watched=False)

    return run_table(seat, lambda choice: Chosen(read_choice(choice)))


@pytest.fixture
def page_url(table):
    return table.url


def tap(page, *names):
    for name in names:
        page.locator(f"#board [data-cell={name}]").click()


def wait_for(come):
    deadline = time.monotonic() + 30
    while not come():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def square(page, name):
    return page.locator(f"#board [data-cell={name}]")


def headline(page):
    return page.locator("#ruling .headline")


def goes(page):
    return page.locator("#moves .ply")


def shown(page):
    """What the page says, in words: what a reload must bring back."""
    texts = page.locator(
        "#match-line, #scores, #go-panel, #ruling, #actions, #controls, #moves, #log"
    ).all_inner_texts()
    squares = page.locator("#board .square").evaluate_all("all => all.map(each => each.getAttribute('aria-label'))")
    return page.title(), texts, squares


def test_a_go_by_tapping_alone_with_an_attack_and_dice(open_page):
    page = open_page()
    page.locator("[name=name_1]").fill("Ada")
    page.locator("[name=name_2]").fill("Ben")
    page.locator("[name=first]").select_option("the first one named")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(headline(page)).to_have_text("Game 1: Ada has the first go")
    expect(page.locator("#board .unit")).to_have_count(16)
    expect(page.locator("#board .stone")).to_have_count(8)
    # Two lines of Warriors march at each other until they meet on f6 and f7.
    for side, steps in (("W2", "f0 f6"), ("W2", "k15 k9"), ("W1", "e0 e6"), ("W2", "k9 f8"), ("W1", "e6 e7")):
        start, end = steps.split()
        tap(page, start)
        expect(page.locator("#board .chosen")).to_have_count(1)
        tap(page, end)
        expect(goes(page).last).to_have_text(f"{side}→{end}")
        if end in ("f6", "f8"):
            expect(page.locator("#squares-words")).to_have_text("0 squares left")
        page.locator("#tray").get_by_role("button", name="End go").click()
        expect(page.locator("#squares-words")).to_have_text("6 squares left")
    tap(page, "f8", "f7")
    expect(page.locator("#squares-words")).to_have_text("5 squares left")
    expect(square(page, "f7")).to_have_attribute("aria-label", "f7, Ben’s Warrior 2")
    tap(page, "f7", "f6")  # who has walked may still attack
    attack = page.locator("#tray .odds-button")
    expect(attack).to_have_text("Attack: 1d6 against 1d6, wins 50.0% (1/2)")
    expect(goes(page)).to_have_count(11)  # the odds are told before anything is declared
    attack.click()
    dice = page.locator("#dice-panel")
    expect(dice).to_contain_text("1d6 against 1d6: Ben wins 50.0% (1/2), Ada 50.0%.")
    expect(page.locator("#take-dice")).to_be_disabled()
    dice.locator(".die").first.press("4")
    expect(dice.locator(".die").last).to_be_focused()
    dice.locator(".die").last.press("4")
    page.locator("#take-dice").click()
    expect(dice.locator(".tie")).to_have_text("A tie (4 : 4): roll all dice again.")
    dice.locator(".pad button", has_text="5").click()
    dice.locator(".pad button", has_text="2").click()
    page.locator("#take-dice").click()
    expect(headline(page)).to_have_text("Ben’s Warrior 2 attacks Ada’s Warrior 2 on f6: 5 against 2, the attacker wins")
    expect(page.locator("#ruling .orders li")).to_have_text(["Take Ada’s Warrior 2 off f6", "Lay a gravestone on f6"])
    expect(page.locator("#ruling .why")).to_have_text("Dice: 5 against 2. Ada’s Warrior 2 falls on f6.")
    expect(square(page, "f6")).to_have_attribute("aria-label", "f6, a gravestone")
    expect(page.locator("#bank")).to_have_text("Bank: 7 gravestones")
    expect(goes(page).last).to_have_text("W2×f6 5:2")
    before = shown(page)
    page.reload(wait_until="domcontentloaded")
    expect(headline(page)).to_contain_text("the attacker wins")
    expect(goes(page)).to_have_count(12)
    assert shown(page) == before
    page.get_by_role("button", name="Take back").click()
    expect(square(page, "f6")).to_have_attribute("aria-label", "f6, Ada’s Warrior 2")
    expect(page.locator("#log .undone")).not_to_have_count(0)
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Ada", exact=True).click()
    expect(headline(page)).to_have_text("Ada resigns")
    expect(page.locator("#go-title")).to_have_text("Ben wins by conquest")
    page.keyboard.press("Space")
    expect(headline(page)).to_have_text("Game 2: Ben has the first go")
    expect(page.locator("#match-line")).to_have_text("Game 2 · Ada 0, Ben 1")


def test_warriors_attack_together_and_the_first_leads(open_page, table):
    table.say(Begin(TWO, record=FIGHT))
    page = open_page()
    expect(headline(page)).to_have_text("Game 1: Ada has the first go")
    tap(page, "f5")
    tray = page.locator("#tray")
    expect(tray.locator("[data-attacker]")).to_have_count(2)
    expect(tray.locator(".odds-button")).to_have_count(0)
    tray.locator("[data-attacker=W2]").click()
    expect(tray.locator(".odds-button")).to_have_text("Attack: 1d6 against 1d6, wins 50.0% (1/2)")
    tray.locator("[data-attacker=W1]").click()
    expect(tray.locator(".odds-button")).to_have_text("Attack: 2d6 against 1d6, wins 90.0% (181/201)")
    expect(tray.locator(".detail")).to_have_text("Warrior 2 leads, and falls if the defender wins.")
    tray.locator(".odds-button").click()
    expect(page.locator("#dice-panel .die")).to_have_count(3)
    expect(page.locator("#actions-panel")).to_be_hidden()
    page.get_by_role("button", name="Take back").click()
    expect(page.locator("#dice-panel")).to_be_hidden()
    expect(page.locator("#ruling .why")).to_have_text("Left of the go: 6 squares, 3 units.")


def test_the_companion_rolls_when_it_is_asked(open_page, table):
    table.say(Begin(TWO, record=FIGHT))
    table.play("W2+W1xf5")
    page = open_page()
    for _ in range(50):  # ties are rolled again
        expect(page.locator("body")).to_have_attribute("data-phase", "dice")
        rolls = page.locator("#log li").count()
        page.locator("#roll").click()
        expect(page.locator("#log li")).not_to_have_count(rolls)
        if page.locator("body").get_attribute("data-phase") != "dice":
            break
    expect(page.locator("#ruling .why")).to_contain_text("Dice rolled by the companion:")
    expect(goes(page)).to_have_count(1)


@pytest.mark.parametrize(("typed", "good"), [("12", True), ("20", False), ("0", False), ("x", False), ("3", True)])
def test_dice_are_held_to_what_they_can_show(open_page, table, typed, good):
    table.say(Begin(TWO, record=FIGHT.replace("W1f5,W2l15", "W1l15").replace("Mh15(0+2)", "Mf5(0+2)")))
    table.play("W1xf5")
    page = open_page()
    dice = page.locator("#dice-panel .die")
    expect(dice.last).to_have_attribute("aria-label", "Ben, die 1 of 1, 1 to 12")
    dice.first.fill("3")
    dice.last.fill(typed)
    if good:
        expect(page.locator("#take-dice")).to_be_enabled()
    else:
        expect(page.locator("#take-dice")).to_be_disabled()
        expect(dice.last).to_have_attribute("aria-invalid", "true")


def test_a_bolt_is_aimed_with_its_odds_and_a_nova_cast(open_page, table):
    table.say(Begin(TWO, record=SORCERY))
    page = open_page()
    actions = page.locator("#actions")
    expect(actions.get_by_role("button", name="Collect")).to_contain_text("No stone lies on h6")
    expect(actions.get_by_role("button", name="Collect")).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("c")
    expect(page.locator("#alarm")).to_have_text("Collect: No stone lies on h6, where the Mage stands.")
    actions.get_by_role("button", name="Bolt").click()
    expect(page.locator("#board .bolt")).to_have_count(2)
    expect(page.locator("#alarm")).to_be_hidden()
    tap(page, "j6")
    expect(page.locator("#tray .odds-button")).to_have_text("Bolt, 2 squares: 1d20 against 1d12, wins 71.1% (27/38)")
    page.get_by_role("button", name="Cancel").click()
    page.keyboard.press("b")
    tap(page, "g5")
    expect(page.locator("#tray .odds-button")).to_have_text("Bolt, 2 squares: cannot be blocked")
    page.locator("#tray .odds-button").click()
    expect(headline(page)).to_have_text("Ada’s Mage casts a Bolt at Ben’s Priest on g5")
    expect(square(page, "g5")).to_have_attribute("aria-label", "g5, an Activated stone")
    expect(page.locator(".player[data-seat='0'] .held strong")).to_have_text("3")
    page.keyboard.press("u")
    expect(page.locator(".player[data-seat='0'] .held strong")).to_have_text("4")
    actions.get_by_role("button", name="Nova").click()
    expect(headline(page)).to_have_text("Ada’s Mage casts a Nova on h6")
    expect(page.locator("#board .stone.activated")).to_have_count(4)
    page.keyboard.press("i")
    expect(page.locator("#rite")).to_have_text("Ada’s Rite is won when play has come back to Ada 2 times more")
    expect(page.locator("#board .glow.seat-0")).to_have_count(1)
    expect(page.locator("#board .clock-left")).to_have_text("2")
    for name in ("Ben", "Ada"):
        page.keyboard.press("e")
        expect(page.locator("#go-title")).to_have_text(f"{name}’s go")
    expect(page.locator("#board .clock-left")).to_have_text("1")


def test_walks_that_differ_are_asked_about(open_page, table):
    table.say(Begin(TWO, record=RAISING))
    page = open_page()
    tap(page, "h1", "h4")
    ways = page.locator("#tray button")
    expect(ways).to_have_count(5)
    ways.filter(has_text="steps back to g4").click()
    expect(headline(page)).to_have_text("Ada’s Priest walks to h4, raises a Warrior there and steps back to g4")
    expect(page.locator("#ruling .orders li")).to_have_text(
        ["Put Ada’s Priest from h4 on g4", "Take the gravestone off h4, out of the game", "Put Ada’s Warrior 2 on h4"]
    )


def test_units_are_chosen_by_keys_and_by_their_buttons(open_page, table):
    table.say(Begin(TWO))
    page = open_page()
    page.keyboard.press("m")
    expect(page.locator("#tray p")).to_have_text("i0, Ada’s Mage. Tap where it walks, or whom it attacks.")
    expect(page.locator("#board .chosen")).to_have_count(1)
    wait_for(lambda: table.live.tapped() == (0, 8))
    page.keyboard.press("Escape")
    expect(page.locator("#board .chosen")).to_have_count(0)
    wait_for(lambda: table.live.tapped() is None)
    page.locator("#army button", has_text="h0").click()
    expect(page.locator("#tray p")).to_contain_text("h0, Ada’s Priest.")
    page.locator("#board [data-cell=h0]").focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(goes(page)).to_have_text(["P→h2"])
    expect(square(page, "h2")).to_be_focused()
    tap(page, "h2")
    expect(page.locator("#tray p")).to_have_text(
        "h2, Ada’s Priest. Priest has moved already in this go, and a unit moves once."
    )
    page.keyboard.press("?")
    expect(page.locator("#key-list")).to_contain_text("Choose the Warrior 6")


def test_the_board_turns_by_quarters(open_page, table):
    table.say(Begin(FOUR))
    page = open_page()
    page.get_by_role("button", name="Turn the board").click()
    expect(page.locator("#board .unit")).to_have_count(32)
    top, left = (square(page, name).bounding_box() for name in ("e0", "a4"))
    assert top["x"] > left["x"]
    tap(page, "e0", "e1")
    expect(goes(page)).to_have_text(["W1→e1"])
    square(page, "e1").focus()
    page.keyboard.press("ArrowLeft")
    expect(square(page, "e2")).to_be_focused()


def test_the_slider_shows_the_past_and_play_goes_on_meanwhile(open_page, table):
    table.say(Begin(TWO))
    table.play("W1>e1>e2 end W1>l14")
    page = open_page()
    expect(page.locator("#replay-place")).to_have_text("3/3")
    page.locator("#to-first").click()
    expect(page.locator("#replay-place")).to_have_text("0/3")
    expect(square(page, "e0")).to_have_attribute("aria-label", "e0, Ada’s Warrior 1")
    tap(page, "h0", "h1")  # nothing is played in the past
    table.play("end")
    expect(page.locator("#replay-place")).to_have_text("0/4")
    goes(page).nth(0).click()
    expect(page.locator("#tray p")).to_have_text("Ada – Ben: after W1→e2.")
    expect(square(page, "e2")).to_have_attribute("aria-label", "e2, Ada’s Warrior 1")
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Ada", exact=True).click()
    expect(page.locator("#go-title")).to_have_text("Ben wins by conquest")
    expect(page.get_by_role("button", name="Back to the game")).to_have_count(0)
    table.say(Saying(Said.TAKE_BACK), Chosen(Draw()), Saying(Said.NEXT_GAME))
    expect(headline(page)).to_have_text("Game 2: Ben has the first go")
    page.get_by_role("button", name="Games").click()
    page.get_by_role("button", name="Show game 1").click()
    expect(page.locator("#tray p")).to_have_text("Ada – Ben: after draw. Ended by agreement.")


def test_records_go_out_and_come_in(open_page, table):
    table.say(Begin(TWO))
    table.play("W1>e1>e2 end W1>l14 draw")
    page = open_page()
    expect(page.locator("#go-title")).to_have_text("Nobody wins: agreement")
    with page.expect_download() as download:
        page.get_by_role("link", name="Export record").click()
    text = download.value.path().read_text()
    record = read_record(text)
    assert record.names == TWO
    assert replay(record)[-1].result is not None
    page.get_by_role("button", name="Games").click()
    page.get_by_role("button", name="Open a record").click()
    field = page.locator("#import-text")
    field.fill("1. W1>e5")
    page.get_by_role("button", name="Show it").click()
    expect(page.locator("#import-why")).to_have_text("go 1, W1>e5: e5 is not orthogonally next to e0; " + LEFT)
    # The browser says aloud that the answer was no.
    open_page.complaints[:] = [said for said in open_page.complaints if "400" not in said]
    field.fill('[Players "4"]\n[Left "Dan"]\n1. W1>e1 end\n2. end')
    page.get_by_role("button", name="Show it").click()
    expect(page.locator("#tray p")).to_have_text("Top – Right – Bottom – Dan: the start.")
    page.get_by_role("button", name="Games").click()
    page.get_by_role("button", name="Open a record").click()
    page.get_by_role("button", name="Play on from it").click()
    expect(page.locator("#go-title")).to_have_text("Bottom’s go")
    expect(page.locator(".player")).to_have_count(4)


LEFT = "left of the go: 6 squares, 3 units"


def test_a_record_can_be_shown_before_any_game(open_page):
    page = open_page()
    page.get_by_role("button", name="Open a record").click()
    page.locator("#import-text").fill("1. W1>e1 end")
    page.get_by_role("button", name="Show it").click()
    page.locator("#to-last").click()
    expect(square(page, "e1")).to_have_attribute("aria-label", "e1, Top’s Warrior 1")
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#start")).to_be_visible()


def test_keys_for_a_board_do_nothing_before_there_is_one(open_page):
    page = open_page()
    for key in ("t", "ArrowLeft", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator("#start")).to_be_visible()
    expect(page.locator("body")).to_have_attribute("data-phase", "start")


def make(page, table, choice):
    """Makes a choice by tapping alone, dice and all."""
    match choice:
        case Move():
            at = table.session.table.game.state.armies[table.session.table.game.state.to_move].cells[choice.unit]
            tap(page, square_name(at))
            expect(page.locator("#board .reach")).not_to_have_count(0)
            tap(page, square_name(choice.path[-1]))
            if len(shortest_walks(table.session.table.game.state, choice.unit, choice.path[-1])) > 1:
                page.locator("#tray button").first.click()
        case Attack() | Bolt():
            tap(page, square_name(choice.target))
            expect(page.locator("#board .target")).to_have_count(1)
            if isinstance(choice, Attack) and choice.units[0] is not Unit.MAGE:
                for letter in page.locator("#tray [aria-pressed=true]").evaluate_all(
                    "all => all.map(each => each.dataset.attacker)"
                ):
                    page.locator(f"#tray [data-attacker={letter}]").click()
                for unit in choice.units:
                    page.locator(f"#tray [data-attacker={unit.letter}]").click()
            declared = write_choice(replace(choice, rolls=()))
            page.locator(f'#tray [data-choice="{declared}"]').click()
            for roll in choice.rolls:
                expect(page.locator("body")).to_have_attribute("data-phase", "dice")
                dice = page.locator("#dice-panel .die")
                expect(dice.first).to_have_value("")
                for die, number in zip(dice.all(), (*roll.attacker, *roll.defender), strict=True):
                    die.fill(str(number))
                page.locator("#take-dice").click()
        case _:
            words = {
                "nova": "Nova",
                "activate": "Activate",
                "collect": "Collect",
                "rite": "Begin the Rite",
                "end": "End go",
            }
            page.locator("#actions").get_by_role("button", name=words[write_choice(choice)]).click()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_every_choice_can_be_made_by_tapping(open_page, table, seed):
    print("seed", seed)
    chance = random.Random(seed)
    table.say((Begin(FOUR), Begin(FOUR, record=FULL), Begin(TWO, record=RAISING), Begin(TWO, record=SORCERY))[seed])
    page = open_page()
    expect(page.locator("body")).to_have_attribute("data-phase", "play")
    kinds = Counter()
    for number in range(60):
        state = table.session.table.game.state
        if state.result is not None:
            break
        legal = legal_choices(state)
        acts = legal.actions[:-1]
        choice = thrown(state, chance.choice(acts if acts and chance.random() < 0.7 else legal), chance)
        made = len(table.session.table.game.choices)
        make(page, table, choice)
        wait_for(lambda made=made: len(table.session.table.game.choices) > made)
        last = table.session.table.game.choices[made]
        kinds[type(last).__name__] += 1
        if isinstance(choice, Move):
            assert (last.unit, last.path[-1]) == (choice.unit, choice.path[-1]), number
        else:
            assert write_choice(last) == write_choice(choice), number
        expect(page.locator("#replay-place")).to_contain_text(f"/{len(table.session.table.game.choices)}")
        if table.session.table.game.state.result is None:
            expect(page.locator("body")).to_have_attribute("data-phase", "play")
    print(dict(kinds))


def seen(state):
    """What a camera sees of a board as it should be."""
    tops = uppermost(state)
    return Seen(Look(tuple((cell, next(iter(tops[cell]))) for cell in sorted(tops))))


def test_what_the_camera_sees_is_followed_and_what_it_cannot_tell_is_asked(open_page, table):
    table.say(Begin(TWO, record=FIGHT))
    page = open_page()
    expect(headline(page)).to_have_text("Game 1: Ada has the first go")
    walked = play(read_record(FIGHT).first, read_choice("W2>g4>g5"))
    fought = play(walked, read_choice("W2xf5(6/1)"))
    table.say(seen(read_record(FIGHT).first), seen(walked))
    expect(goes(page)).to_have_text(["W2→g5"])
    expect(page.locator("#log li").first).to_contain_text("seen by the camera")
    table.say(seen(fought))
    expect(headline(page)).to_have_text("Nobody has declared what the board shows")
    expect(page.locator("#board .wrong")).to_have_count(1)
    page.locator("#candidates").get_by_role("button", name="The attack on f5 by Warrior 2").click()
    dice = page.locator("#dice-panel .die")
    dice.first.fill("6")
    dice.last.fill("1")
    page.locator("#take-dice").click()
    expect(goes(page)).to_have_text(["W2→g5", "W2×f5 6:1"])
    orders = page.locator("#ruling .orders li")
    expect(orders).to_have_text(["Take Ben’s Warrior 1 off f5", "Lay a gravestone on f5"])
    table.say(seen(fought))
    expect(orders).to_have_count(0)
    expect(page.locator("#board .todo-ring")).to_have_count(0)


def test_siege_and_rite_are_shown_now_and_in_the_past(open_page, table):
    table.say(Begin(FOUR, record=FULL))
    table.play("W6>i7")
    page = open_page()
    expect(page.locator("#board .siege")).to_have_count(1)
    expect(page.locator(".siege-note")).to_have_text("⚔ under siege")
    expect(page.locator("#board .glow")).to_have_count(0)
    expect(page.locator("#ruling .why")).to_have_text("Cleo’s Rite is broken.")
    page.locator("#to-earlier").click()
    expect(page.locator("#board .glow.seat-2")).to_have_count(1)
    expect(page.locator("#board .clock-left")).to_have_text("1")
    expect(page.locator("#board .siege")).to_have_count(1)


def test_names_are_shown_as_they_are_written(open_page, table):
    table.say(Begin(("<img src=x>", "O'Neil & Top")))
    page = open_page()
    expect(page.locator(".player .name").first).to_have_text("<img src=x>")
    expect(headline(page)).to_have_text("Game 1: <img src=x> has the first go")
    assert page.locator("img").count() == 0


def test_the_page_goes_on_by_itself_after_the_companion_was_restarted(open_page, table):
    table.say(Begin(TWO, record=FIGHT))
    table.play("W1xf5")
    table.say(Thrown(Roll((3,), (3,)), Thrower.PLAYERS))
    page = open_page()
    expect(page.locator("#dice-panel .tie")).to_be_visible()
    wait_for(table.said.empty)
    table.stop()
    expect(page.locator("#alarm")).to_contain_text("lost the companion")
    table.start()
    expect(page.locator("#alarm")).to_be_hidden(timeout=15_000)
    for die in page.locator("#dice-panel .die").all():
        die.fill("5" if die == page.locator("#dice-panel .die").first else "2")
    page.locator("#dice-panel .die").first.fill("5")
    page.locator("#take-dice").click()
    expect(goes(page)).to_have_text(["W1×f5 5:2"])
    open_page.complaints[:] = [text for text in open_page.complaints if "net::ERR" not in text]


@pytest.mark.parametrize(
    ("viewport", "scheme"), [(PHONE, "light"), (TELEVISION, "dark"), ({"width": 1366, "height": 768}, "light")]
)
def test_everything_fits_the_screen(open_page, table, viewport, scheme):
    table.say(Begin(("Wilhelmina-Charlotte III", "Ben", "Cleo", "Dan"), record=FULL))
    page = open_page(viewport, color_scheme=scheme)
    expect(page.locator("#board .unit")).to_have_count(26)
    tap(page, "h5")
    expect(page.locator("#board .reach")).not_to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    parts = (
        "#scores",
        "#go-panel",
        "#ruling",
        "#board",
        "#tray",
        "#slider",
        "#actions",
        "#buttons",
        "#moves-panel",
        "#log",
    )
    for part in parts:
        box = page.locator(part).bounding_box()
        assert box is not None, part
        assert box["width"] > 60, part
        assert box["x"] >= 0, part
        assert box["x"] + box["width"] <= viewport["width"], part
        if viewport is not PHONE:
            assert box["y"] + box["height"] <= viewport["height"], part
    for button in page.locator("#buttons button, #tray button, #actions button, #army button").all():
        box = button.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 40
    if viewport is PHONE:
        tray = page.locator("#tray").bounding_box()
        assert tray["y"] + tray["height"] <= viewport["height"]
    assert square(page, "h5").bounding_box()["width"] >= 23
