"""Claims about the page in a real browser, from the start of a match to its end, told by looks and clicks."""

import numpy as np
import pytest
from playwright.sync_api import expect

from companion.inputs import Declaration, Declared, SeenDisk, Setup
from companion.live import Watch
from companion.terms import Lying, Mode, Player

PHONE = {"width": 390, "height": 844}
TELEVISION = {"width": 1920, "height": 1080}


def start(desk, **changes):
    desk.say(Declaration(Declared.START, Setup(Mode.MATCH, 4, names=("Ada", "Ben"), **changes)))


def shown(page):
    """What the page says, in words: what a reload must bring back."""
    page.wait_for_selector(".player .name")
    texts = page.locator("#match-line, #scores, #ruling, #controls, #track, #log").all_inner_texts()
    disks = page.locator("#board .disk").evaluate_all(
        "all => all.map(disk => [disk.dataset.colour, disk.dataset.cell, disk.style.transform].join(' ')).sort()"
    )
    return page.title(), texts, disks


def test_what_is_the_matter_with_the_pictures_is_said_while_it_lasts(open_page, served):
    page, line = open_page(), "#picture-faults"
    expect(page.locator(line)).to_be_empty()
    served.desk.live.judge_pictures(("the picture is dark: give more light", "the light flickers: take another lamp"))
    expect(page.locator(line)).to_have_text(
        "The picture is dark: give more light. The light flickers: take another lamp."
    )
    expect(page.locator("#alarm")).to_be_hidden()
    served.desk.live.judge_pictures(())
    expect(page.locator(line)).to_be_empty()


def test_a_match_from_the_form_to_the_end_and_a_reload(open_page, served, disk, tmp_path):
    page = open_page()
    desk = served.desk
    page.get_by_label("Name").first.fill("Ada")
    page.get_by_label("Name").last.fill("Ben")
    page.get_by_label("The youngest").first.check()
    page.get_by_label("Match points to win").fill("4")
    page.get_by_role("button", name="Start the match").click()
    expect(page.locator("#ruling .headline")).to_have_text("Game 1: Ada flicks first")
    expect(page.locator(".player.now .name")).to_have_text("Ada")

    desk.see(disk(Player.A, 8, 4), flight=Player.A)
    expect(page).to_have_title("Ada 1 – 0 Ben")
    expect(page.locator(".player.now .name")).to_have_text("Ben")
    desk.see(disk(Player.A, 8, 4), disk(Player.B, 8, 2), flight=Player.B)
    expect(page.locator("#ruling .orders")).to_have_text("Take the black disk at row 8, column 2 off")
    expect(page.locator("#ruling .rule")).to_have_text("Rulebook: Important Rules")
    expect(page.locator("#board .order.remove")).to_have_count(1)
    desk.see(disk(Player.A, 8, 4), hand=True)
    expect(page.locator("#board .order")).to_have_count(0)

    # The disk is corrected by clicking it and then the hole in which it lies.
    page.locator("#board .disk[data-cell='8,4']").click()
    page.locator("#board .hole").nth(6 * 7 + 2).click()
    page.get_by_role("button", name="Move it").click()
    expect(page.locator("#board .disk")).to_have_attribute("data-cell", "7,3")
    expect(page).to_have_title("Ada 0 – 0 Ben")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#board .disk")).to_have_attribute("data-cell", "8,4")
    expect(page).to_have_title("Ada 1 – 0 Ben")
    expect(page.locator("#log .undone")).to_have_count(1)

    page.keyboard.press("e")
    page.get_by_role("button", name="Yes").click()
    expect(page.locator("#ruling .headline")).to_have_text("Ada wins the game 1–0")
    expect(page.locator(".player.won .name")).to_have_text("Ada")
    expect(page.locator(".lane .total")).to_have_text(["2", "0"])
    before = shown(page)
    assert page.screenshot(path=tmp_path / "end.png")
    page.reload(wait_until="domcontentloaded")
    expect(page.locator("#ruling .headline")).to_have_text("Ada wins the game 1–0")
    assert shown(page) == before

    page.keyboard.press("Space")
    expect(page.locator("#ruling .headline")).to_have_text("Game 2: Ada flicks first")
    desk.see(disk(Player.A, 8, 1), flight=Player.A)
    page.keyboard.press("e")
    page.get_by_role("button", name="Yes").click()
    expect(page.locator("#ruling .headline")).to_have_text("Ada wins the match")
    page.get_by_role("button", name="Play again, sides switched").click()
    expect(page.get_by_label("Name").first).to_have_value("Ben")
    page.get_by_label("The youngest").last.check()
    page.get_by_role("button", name="Start the match").click()
    expect(page.locator(".player.now .name")).to_have_text("Ada")
    expect(page.locator(".player[data-player=a] .name")).to_have_text("Ben")
    expect(page.locator("#log li")).to_have_count(1)


def test_a_question_is_answered_with_a_button(open_page, served):
    start(served.desk)
    page = open_page()
    served.desk.see(SeenDisk(Player.A, 100.0, 70.2, None, Lying.FLAT, 0.3, 0.9), flight=Player.A)
    expect(page.locator("#ruling .headline")).to_contain_text("too close to call")
    expect(page.locator("#board .asked")).to_have_count(1)
    page.get_by_role("button", name="It comes off").click()
    expect(page.locator("#ruling .orders")).to_have_text("Take the red disk in Ada’s launch area off")


@pytest.mark.parametrize(
    ("clicks", "disks"),
    [
        ([".disk", "It is black"], [("b", "4,3")]),
        ([".disk", "It is not there"], []),
        ([".disk", "Cancel"], [("a", "4,3")]),
        (["hole 10", "a black disk"], [("a", "4,3"), ("b", "2,4")]),
        ([".disk", "hole 48", "Move it"], [("a", "7,7")]),
    ],
)
def test_a_disk_seen_wrongly_is_put_right_by_clicking(open_page, served, disk, clicks, disks):
    start(served.desk)
    served.desk.see(disk(Player.A, 4, 3), flight=Player.A)
    page = open_page()
    expect(page.locator("#board .disk")).to_have_count(1)
    for click in clicks:
        if click == ".disk":
            page.locator("#board .disk").click()
        elif click.startswith("hole "):
            page.locator("#board .hole").nth(int(click.split()[1])).click()
        else:
            page.get_by_role("button", name=click).click()
    expect(page.locator("#board .disk")).to_have_count(len(disks))
    served.desk.said.join()
    for colour, cell in disks:
        expect(page.locator(f"#board .disk[data-colour={colour}][data-cell='{cell}']")).to_have_count(1)


def test_a_disk_is_corrected_by_keyboard_alone(open_page, served, disk):
    start(served.desk)
    served.desk.see(disk(Player.A, 4, 3), flight=Player.A)
    page = open_page()
    page.locator("#board .disk").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#board .disk")).to_have_count(0)


def test_keys_can_be_switched_off(open_page, served, disk):
    start(served.desk)
    served.desk.see(disk(Player.A, 4, 3), flight=Player.A)
    page = open_page()
    page.keyboard.press("?")
    page.get_by_label("Single-key shortcuts").uncheck()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("u")
    page.get_by_role("button", name="Turn the board").click()
    served.desk.said.join()
    expect(page.locator("#log .undone")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#log .undone")).to_have_count(1)


def test_names_are_shown_as_they_are_written(open_page, served):
    served.desk.say(Declaration(Declared.START, Setup(Mode.MATCH, names=("<img src=x>", "O'Neil & Co"))))
    page = open_page()
    expect(page.locator(".player .name").first).to_have_text("<img src=x>")
    expect(page.locator("#ruling .headline")).to_have_text("Game 1: <img src=x> flicks first")
    assert page.locator("img").count() == 0


def test_the_page_says_what_the_camera_does(open_page, served):
    start(served.desk)
    page = open_page()
    expect(page.locator("#watch")).to_have_text("Watching the board")
    served.desk.live.watch(Watch.HAND, "a hand is over the table")
    expect(page.locator("#watch")).to_have_text("Hand over the board")
    expect(page.locator("#alarm")).to_be_hidden()
    served.desk.live.watch(Watch.CAMERA_LOST, "plug it in again")
    expect(page.get_by_role("alert").first).to_have_text("Camera lost: plug it in again")
    served.desk.live.watch(Watch.WATCHING)
    expect(page.locator("#alarm")).to_be_hidden()


def test_the_picture_follows_the_camera(open_page, served):
    start(served.desk)
    page = open_page()
    picture = page.locator("#picture")
    expect(picture).to_have_attribute("data-n", "1")
    served.desk.live.show(np.full((360, 640, 3), (10, 200, 30), np.uint8))
    expect(picture).to_have_attribute("data-n", "2")
    colour = picture.evaluate("canvas => [...canvas.getContext('2d').getImageData(9, 9, 1, 1).data]")
    assert np.abs(np.array(colour[:3]) - (30, 200, 10)).max() < 12


def test_the_page_goes_on_by_itself_after_the_companion_was_restarted(open_page, served, disk):
    start(served.desk)
    served.desk.see(disk(Player.A, 8, 4), flight=Player.A)
    page = open_page()
    expect(page).to_have_title("Ada 1 – 0 Ben")
    served.stop()
    expect(page.locator("#alarm")).to_contain_text("lost the companion")
    served.start()
    expect(page.locator("#alarm")).to_be_hidden(timeout=15_000)
    served.desk.see(disk(Player.A, 8, 4), disk(Player.B, 1, 1), flight=Player.B)
    expect(page).to_have_title("Ada 1 – 1 Ben")
    expect(page.locator("#log li")).to_have_count(3)
    # What the browser says of the minute without a server is no error of the page.
    open_page.complaints[:] = [text for text in open_page.complaints if "net::ERR" not in text]


def test_a_hidden_page_asks_for_nothing_and_misses_nothing(open_page, served, disk):
    start(served.desk)
    page = open_page()
    page.evaluate("Object.defineProperty(document, 'visibilityState', { get: () => window.seen ?? 'hidden' })")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    served.desk.see(disk(Player.A, 8, 4), flight=Player.A)
    page.wait_for_timeout(600)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    served.desk.see(disk(Player.A, 8, 4), disk(Player.B, 1, 1), flight=Player.B)
    page.wait_for_timeout(1000)
    assert (asked, page.title()) == ([], "Ada 0 – 0 Ben")
    page.evaluate("window.seen = 'visible'")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page).to_have_title("Ada 1 – 1 Ben")
    expect(page.locator("#log li")).to_have_count(3)


@pytest.mark.parametrize("viewport", [PHONE, TELEVISION, {"width": 1366, "height": 768}])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_fits_the_screen(open_page, served, disk, viewport, scheme):
    served.desk.say(Declaration(Declared.START, Setup(Mode.MATCH, 21, names=("Wilhelmina-Charlotte III", "Ben"))))
    served.desk.see(disk(Player.A, 8, 4), flight=Player.A)
    served.desk.see(disk(Player.A, 8, 4), disk(Player.B, 8, 2), flight=Player.B)
    page = open_page(viewport, color_scheme=scheme)
    expect(page.locator("#board .order")).to_have_count(1)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= viewport["width"]
    for part in ("#scores", "#ruling", "#board", "#buttons", "#track", "#picture", "#log"):
        box = page.locator(part).bounding_box()
        assert box is not None
        assert box["width"] > 100
        assert box["height"] > 40
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= viewport["width"]
        if viewport is not PHONE:
            assert box["y"] + box["height"] <= viewport["height"]
    for button in page.locator("#buttons button").all():
        box = button.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
