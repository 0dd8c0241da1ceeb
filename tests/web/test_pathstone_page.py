"""Claims about the page of Pathstone in a real browser: a game played by tapping, its past, records and a series."""

import time

import pytest
from playwright.sync_api import expect

from companion.cli.boards import pathstone_board
from companion.dashboard import create_pathstone_app
from companion.games.pathstone import look_from_tops, read_move, read_ptn, read_tps, replay
from companion.games.pathstone.series import Begin, Played, Said, Saying, Seen
from companion.live import Live
from companion.pathstone_session import PathstoneSession
from companion.store import PathstoneStore
from companion.terms import Player

PHONE = {"width": 390, "height": 844}
TELEVISION = {"width": 1920, "height": 1080}
A_WINS = "a1 c3 c2 b1 b2 b3 a2"


@pytest.fixture
def table(log, run_table):
    def seat(said):
        live = Live()
        store = PathstoneStore(log, live.ring)
        match = store.latest()
        session = PathstoneSession(
            None,
            lambda _given, _rulings: None,
            series=None if match is None else store.resume(match),
            store=store,
            match=match,
            live=live,
            said=said,
        )
        app = create_pathstone_app(store, live, said, pathstone_board(None, 5), watched=False)
        return live, store, session, app

    return run_table(seat, lambda move: Played(read_move(move)))


@pytest.fixture
def page_url(table):
    return table.url


def tap(page, *names):
    for name in names:
        page.locator(f"#board [data-cell={name}]").click()


def shown(page):
    """What the page says, in words: what a reload must bring back."""
    texts = page.locator("#match-line, #scores, #ruling, #controls, #moves, #series-panel, #log").all_inner_texts()
    squares = page.locator("#board .square").evaluate_all("all => all.map(each => each.getAttribute('aria-label'))")
    return page.title(), texts, squares


def headline(page):
    return page.locator("#ruling .headline")


def test_a_game_by_tapping_alone_from_the_form_to_the_next_game_and_a_reload(open_page):
    page = open_page()
    page.locator("[name=name_1]").fill("Ada")
    page.locator("[name=name_2]").fill("Ben")
    page.locator("[name=size]").select_option("3")
    page.locator("[name=first]").select_option("Ben")
    page.locator("[name=games]").select_option("best of 3")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(headline(page)).to_have_text("Game 1: Ben moves first")
    expect(page.locator("#tray p")).to_have_text("Place a flat of Ada’s:")
    expect(page.locator("#tray .kind")).to_have_count(1)
    for name in ("a1", "c3", "c2", "b1", "b2", "b3"):
        tap(page, name)
        expect(page.locator(f"#board [data-cell={name}]")).not_to_have_attribute("aria-label", f"{name}, empty")
    threats = ["Ben can complete a path now: c1 or a2", "Ada is one move from a path: c1"]
    expect(page.locator("#ruling .orders li")).to_have_text(threats)
    expect(page.locator("#board [data-cell=a2] .threat")).to_have_count(1)
    tap(page, "a2")
    expect(headline(page)).to_have_text("Ben completes a path and wins")
    expect(page.locator("#ruling .why")).to_have_text("Ben connects a2 to c2.")
    expect(page.locator("#board .path")).to_have_count(2)
    expect(page.locator("#moves .ply")).to_have_text(["a1", "c3", "c2", "b1", "b2", "b3", "a2"])
    expect(page).to_have_title("Ben 1 – 0 Ada")
    before = shown(page)
    page.reload(wait_until="domcontentloaded")
    expect(headline(page)).to_have_text("Ben completes a path and wins")
    expect(page.locator("#series-games li")).to_have_count(1)
    assert shown(page) == before
    page.keyboard.press("Space")
    expect(headline(page)).to_have_text("Game 2: Ada moves first")
    expect(page.locator(".player.now .name")).to_have_text("Ada")
    page.keyboard.press("r")
    page.get_by_role("button", name="Ada", exact=True).click()
    expect(headline(page)).to_have_text("Ben wins")
    expect(page.locator("#ruling .why")).to_have_text("Ada resigns. Ben wins the series 2–0.")
    expect(page.locator("#series-title")).to_have_text("Series: Ben 2 – 0 Ada, best of 3")
    expect(page.locator("#series-games .result")).to_have_text(["0-1, resignation", "R-0, path"])
    page.locator("#buttons").get_by_role("button", name="New series").click()
    expect(page.locator("[name=name_1]")).to_have_value("Ben")
    page.get_by_role("button", name="Back to the game").click()
    page.get_by_role("button", name="Take back").click()
    expect(page.locator("body")).to_have_attribute("data-phase", "play")
    page.get_by_role("button", name="Draw").click()
    page.get_by_role("button", name="Yes").click()
    expect(headline(page)).to_have_text("Drawn by agreement")
    expect(page).to_have_title("Ada ½ – 1½ Ben")


def test_walls_crowns_and_slides_with_drop_counts(open_page, table):
    table.say(Begin(("Ada", "Ben"), 5))
    table.play("a1 e5 c1 d1")
    page = open_page()
    expect(page.locator("#moves .ply")).to_have_count(4)
    with page.expect_response("**/tapped"):  # for the LEDs
        tap(page, "c1")  # one piece: a tap on where it goes is enough
    expect(page.locator("#board .reach")).to_have_count(3)
    assert table.live.tapped() == (1, 3)
    tap(page, "d1")
    expect(page.locator("#moves .ply").last).to_have_text("c1>")
    expect(page.locator("#board [data-cell=d1]")).to_have_attribute(
        "aria-label", "d1, cream flat on top of 1, height 2"
    )
    page.get_by_role("button", name="Wall").click()
    tap(page, "c3")
    expect(page.locator("#moves .ply").last).to_have_text("Sc3")
    tap(page, "d1", "d2")
    tray = page.locator("#tray")
    expect(tray.get_by_role("button", name="Play 2d1+")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    tap(page, "d1", "d2")
    expect(tray.get_by_role("button", name="Play 2d1+")).to_be_visible()
    expect(page.locator("#board [data-cell=d1]")).to_have_attribute("aria-label", "d1, empty")
    tray.get_by_role("button", name="One less on d2").click()
    expect(page.locator("#board [data-cell=d1]")).to_have_attribute("aria-label", "d1, brown flat")
    tray.get_by_role("button", name="Play d1+").click()
    expect(page.locator("#moves .ply").last).to_have_text("d1+")
    page.keyboard.press("c")
    tap(page, "b3")
    expect(page.locator("#moves .ply").last).to_have_text("Cb3")
    expect(page.locator(".player[data-player=b] .left")).to_have_text("18 of 21 stones · 0 of 1 Crown")
    tap(page, "e1")
    expect(page.locator("#moves .ply").last).to_have_text("e1")
    tap(page, "b3", "c3")  # the Crown flattens the wall of its own side
    expect(headline(page)).to_have_text("Ben moves 1 from b3: 1 on c3, and flattens the wall")
    tap(page, "c3")
    expect(tray.locator(".whole .spoken")).to_have_text("c3, brown Crown on top of 1, height 2")
    expect(page.locator("#board .reach")).to_have_count(0)  # it is not its owner's turn


def test_taps_that_come_faster_than_answers_still_move_the_stack(open_page, table):
    table.say(Begin(("Ada", "Ben"), 4))
    table.play("a1 d4 b2 c3")
    page = open_page()
    expect(page.locator("#moves .ply")).to_have_count(4)
    page.evaluate(
        """() => {
            const real = fetch;
            window.fetch = async (...asked) => {
                await new Promise((go) => setTimeout(go, 300));
                return real(...asked);
            };
        }"""
    )
    tap(page, "b2", "b3")
    expect(page.locator("#moves .ply").last).to_have_text("b2+")


def test_a_game_is_played_with_the_keyboard(open_page, table):
    table.say(Begin(("Ada", "Ben"), 4))
    page = open_page()
    expect(headline(page)).to_have_text("Game 1: Ada moves first")
    page.locator("#board [tabindex='0']").focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#moves .ply")).to_have_text(["b3"])
    expect(page.locator("#board [data-cell=b3]")).to_be_focused()


def test_the_slider_shows_the_past_and_play_goes_on_meanwhile(open_page, table):
    table.say(Begin(("Ada", "Ben"), 3))
    table.play("a1 c3 c2 b1")
    page = open_page()
    expect(page.locator("#replay-place")).to_have_text("4/4")
    page.locator("#to-earlier").click()
    expect(page.locator("#replay-place")).to_have_text("3/4")
    expect(page.locator("#board [data-cell=b1]")).to_have_attribute("aria-label", "b1, empty")
    tap(page, "b2")  # nothing is played in the past
    table.play("b2")
    expect(page.locator("#replay-place")).to_have_text("3/5")
    page.locator("#slider").press("ArrowRight")
    page.locator("#slider").press("ArrowRight")
    expect(page.locator("#replay-place")).to_have_text("5/5")
    expect(page.locator("#tray p")).to_have_text("Place, or tap a stack:")
    page.locator("#moves .ply").first.click()
    expect(page.locator("#replay-place")).to_have_text("1/5")
    page.get_by_role("button", name="Back to the game").click()
    table.play("b3 a2")
    table.say(Saying(Said.NEXT_GAME))
    expect(headline(page)).to_have_text("Game 2: Ben moves first")
    page.get_by_role("button", name="Show game 1").click()
    expect(page.locator("#replay-place")).to_have_text("7/7")
    expect(page.locator("#board .path")).to_have_count(2)
    expect(page.locator("#tray p")).to_have_text("Ada – Ben: after a2. R-0, path.")
    page.locator("#to-first").click()
    expect(page.locator("#board .stack")).to_have_count(0)


def test_records_go_out_and_come_in(open_page, table):
    table.say(Begin(("Ada", "Ben"), 3))
    table.play(A_WINS)
    page = open_page()
    expect(headline(page)).to_have_text("Ada completes a path and wins")
    with page.expect_download() as download:
        page.get_by_role("link", name="Export PTN").click()
    text = download.value.path().read_text()
    assert str(replay(read_ptn(text))[-1].result) == "R-0"
    page.get_by_role("button", name="Games").click()
    page.get_by_role("button", name="Open a record").click()
    field = page.locator("#import-text")
    field.fill('[Size "3"]\n1. a1 a1')
    page.get_by_role("button", name="Show it").click()
    expect(page.locator("#import-why")).to_have_text("line 2, column 7, move 1, a1: a1 is not empty: B's flat")
    # The browser says aloud that the answer was no.
    open_page.complaints[:] = [said for said in open_page.complaints if "400" not in said]
    field.fill('[Player1 "Cy"]\n[Size "4"]\n[TPS "x4/x4/x4/1,2,x2 2 2"]\n2. -- b2 3. a2\n')
    page.get_by_role("button", name="Show it").click()
    expect(page.locator("#tray p")).to_have_text("Cy – Player 2: the start.")
    expect(page.locator("#moves .ply")).to_have_text(["--", "b2", "a2"])
    expect(page).to_have_title("Ada 1 – 0 Ben")
    page.get_by_role("button", name="Games").click()
    page.get_by_role("button", name="Open a record").click()
    page.locator("#import-file").set_input_files(download.value.path())
    expect(field).to_have_value(text)
    field.fill('[Player1 "Cy"]\n[Size "4"]\n\n1. a1 d4\n2. b2')
    page.get_by_role("button", name="Play on from it").click()
    expect(page.locator(".player.now .name")).to_have_text("Player 2")
    tap(page, "c3")
    expect(page.locator("#moves .ply")).to_have_text(["a1", "d4", "b2", "c3"])
    page.get_by_role("button", name="Games").click()
    expect(page.locator("#games-list li")).to_have_count(2)


def test_a_series_that_was_left_goes_on(open_page, table):
    table.say(Begin(("Ada", "Ben"), 5))
    table.play("a1 e5 c3")
    table.say(Begin(("Cy", "Di"), 4))
    table.play("d4")
    page = open_page()
    expect(page.locator("#moves .ply")).to_have_text(["d4"])
    page.get_by_role("button", name="Games").click()
    page.get_by_role("button", name="Go on with game 1, Ada and Ben").click()
    expect(page.locator("#games")).to_be_hidden()
    expect(page.locator("#moves .ply")).to_have_text(["a1", "e5", "c3"])
    expect(page.locator("#log li")).to_have_count(5)
    tap(page, "d3")
    expect(page.locator("#moves .ply").last).to_have_text("d3")
    page.get_by_role("button", name="Games").click()
    expect(page.get_by_role("button", name="Go on with game 1, Cy and Di")).to_be_visible()
    expect(page.get_by_role("button", name="Go on with game 1, Ada and Ben")).to_have_count(0)


def test_a_record_can_be_shown_before_any_game(open_page):
    page = open_page()
    page.get_by_role("button", name="Open a record").click()
    page.locator("#import-text").fill('[Size "3"]\n1. a1 c3')
    page.get_by_role("button", name="Show it").click()
    page.locator("#to-last").click()
    expect(page.locator("#board .stack")).to_have_count(2)
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#start")).to_be_visible()


def test_keys_for_a_board_do_nothing_before_there_is_one(open_page):
    page = open_page()
    for key in ("t", "ArrowLeft", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator("#start")).to_be_visible()
    expect(page.locator("body")).to_have_attribute("data-phase", "start")


@pytest.mark.parametrize(
    ("stack", "size", "layers", "deeper"),
    [("12", 5, 2, ""), ("121212", 5, 6, ""), ("1212121", 5, 6, "+1"), ("12" * 8 + "1S", 3, 4, "+13")],
)
def test_stacks_are_shown_as_the_rulebook_says(open_page, table, stack, size, layers, deeper):
    tps = f"{'/'.join([f'x{size}'] * (size - 1))}/{stack},2,x{size - 2} 1 9"
    read_tps(tps)
    table.say(Begin(("Ada", "Ben"), ptn=f'[TPS "{tps}"]\n[Size "{size}"]'))
    page = open_page()
    height = len(stack.rstrip("S"))
    drawn = page.locator("#board [data-cell=a1]")
    expect(drawn.locator(".stack")).to_have_attribute("data-layers", str(layers))
    expect(drawn.locator(".piece")).to_have_count(layers)
    expect(drawn.locator(".height")).to_have_text(str(height))
    expect(drawn.locator(".deeper")).to_have_text([deeper] if deeper else [])
    drawn.click()
    expect(page.locator("#tray .whole .pieces span")).to_have_count(height)


def test_a_look_that_can_be_two_moves_asks_with_buttons(open_page, table):
    # From above, a flat out of the reserve looks like one that was slid off the stack beside it.
    start = '[TPS "x3/x3/11,x,2 1 9"]\n[Size "3"]'
    table.say(Begin(("Ada", "Ben"), ptn=start))
    table.say(Seen(look_from_tops(("wwb", "...", "..."))))
    page = open_page()
    expect(page.locator("body")).to_have_attribute("data-phase", "ask")
    answers = page.locator("#candidates button")
    expect(answers).to_have_text(["a1>: 1 from a1, 1 on b11", "b1: a flat placed2"])
    answers.filter(has_text="a1>").click()
    expect(page.locator("#moves .ply")).to_have_text(["a1>"])
    expect(page.locator("body")).to_have_attribute("data-phase", "play")


def test_names_are_shown_as_they_are_written(open_page, table):
    table.say(Begin(("<img src=x>", "O'Neil & Co"), 5))
    page = open_page()
    expect(page.locator(".player .name").first).to_have_text("<img src=x>")
    expect(headline(page)).to_have_text("Game 1: <img src=x> moves first")
    assert page.locator("img").count() == 0


def test_the_page_goes_on_by_itself_after_the_companion_was_restarted(open_page, table):
    table.say(Begin(("Ada", "Ben"), 3))
    table.play("a1 c3")
    page = open_page()
    expect(page.locator("#moves .ply")).to_have_count(2)
    deadline = time.monotonic() + 30
    while not table.said.empty():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    table.stop()
    expect(page.locator("#alarm")).to_contain_text("lost the companion")
    table.start()
    expect(page.locator("#alarm")).to_be_hidden(timeout=15_000)
    tap(page, "b2")
    expect(page.locator("#moves .ply")).to_have_text(["a1", "c3", "b2"])
    open_page.complaints[:] = [text for text in open_page.complaints if "net::ERR" not in text]


@pytest.mark.parametrize("viewport", [PHONE, TELEVISION, {"width": 1366, "height": 768}])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_fits_the_screen(open_page, table, viewport, scheme):
    table.say(Begin(("Wilhelmina-Charlotte III", "Ben"), 8, 7))
    table.play("a1 h8 c3 c4 c3+ Sd4 d3 Cd2 Cb3 e1")
    table.say(Saying(Said.RESIGN, Player.B), Saying(Said.TAKE_BACK))
    page = open_page(viewport, color_scheme=scheme)
    expect(page.locator("#moves .ply")).to_have_count(10)
    tap(page, "c4", "c5")
    expect(page.locator("#tray").get_by_role("button", name="Play 2c4+")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    for part in (
        "#scores",
        "#ruling",
        "#board",
        "#tray",
        "#slider",
        "#buttons",
        "#moves-panel",
        "#series-panel",
        "#log",
    ):
        box = page.locator(part).bounding_box()
        assert box is not None, part
        assert box["width"] > 60, part
        assert box["x"] >= 0, part
        assert box["x"] + box["width"] <= viewport["width"], part
        if viewport is not PHONE:
            assert box["y"] + box["height"] <= viewport["height"], part
    for button in page.locator("#buttons button, #tray button").all():
        box = button.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
    square = page.locator("#board [data-cell=c4]").bounding_box()
    assert square is not None
    assert square["width"] >= 40
