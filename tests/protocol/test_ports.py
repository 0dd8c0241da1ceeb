"""What is attached is listed with who answers there, or with why it cannot be used and what to do."""

import grp
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

import pytest
import serial
from serial.tools import list_ports
from serial.tools.list_ports_common import ListPortInfo

from firmware_protocol import link, ports
from firmware_protocol.driver import Device, GridEvent, Lost
from firmware_protocol.link import Link
from firmware_protocol.messages import LedKind, SensorKind
from firmware_protocol.ports import Attached, attached
from hardware_sims.board import Board
from hardware_sims.monome import MonomeGrid
from hardware_sims.ports import PtyPort, TcpPort
from hardware_sims.strip import Strip


def usb(name: str, serial_number: str = "A1", product: str = "Grid") -> ListPortInfo:
    """What pyserial says of a USB port."""
    info = ListPortInfo(name)
    info.vid, info.pid, info.serial_number, info.product = 0x2341, 0x0043, serial_number, product
    return info


@pytest.fixture
def plugged(monkeypatch) -> Callable[..., None]:
    """Has pyserial list these USB ports."""

    def plug(*infos: ListPortInfo) -> None:
        monkeypatch.setattr(list_ports, "comports", lambda: list(infos))

    plug()
    return plug


def test_a_grid_is_listed_with_who_it_is(plugged, monkeypatch, tmp_path):
    monkeypatch.setattr(ports, "BY_ID", tmp_path)
    with PtyPort(Board(8, 7, uid=b"12345678", firmware=(1, 2, 3))) as port:
        plugged(usb(port.path))
        (tmp_path / "usb-Grid_A1-if00").symlink_to(port.path)
        device = Device("grid", b"12345678".hex(), 8, 7, LedKind.RGB, SensorKind.HALL, "1.2.3", simulated=True)
        assert attached() == (Attached(port.path, "usb-Grid_A1-if00", "2341:0043", "Grid", device, ""),)


def test_ports_are_asked_side_by_side_each_in_its_protocol(plugged):
    with (
        PtyPort(MonomeGrid(8, 16, name="m1000042")) as monome,
        PtyPort(Strip(30)) as strip,
        pty() as other,
        pty() as mute,
    ):
        grid, wled, no_monome, adalight = attached(
            [monome.path, f"wled:{strip.path}", f"monome:{other}", f"adalight:{mute}"]
        )
    assert grid.device == Device("monome", "m1000042", 8, 16, LedKind.LEVELS, SensorKind.SWITCH, "", simulated=False)
    assert (wled.device.driver, wled.device.rows, wled.device.columns) == ("wled", 1, 30)
    assert (grid.trouble, wled.trouble) == ("", "")
    assert (no_monome.name, no_monome.device) == (other, None)
    assert "nothing answers as a monome" in no_monome.trouble
    assert (adalight.name, adalight.device) == (mute, None)
    assert "mute" in adalight.trouble


@pytest.mark.long
def test_what_answers_in_no_protocol_is_told_so_in_the_list_as_by_a_link(plugged):
    with pty() as linked, told_by_a_link(linked) as told, pty() as silent, PtyPort(Strip(30)) as strip:
        nothing, wled = attached([silent, strip.path])
        assert told.get(timeout=20) == Lost(f"{linked}: {nothing.trouble}")
    assert (wled.device.driver, wled.device.columns) == ("wled", 30)
    assert nothing.device is None
    assert nothing.trouble.startswith("nothing answers")
    assert "adalight:" in nothing.trouble


@contextmanager
def told_by_a_link(name: str) -> Iterator[SimpleQueue[GridEvent]]:
    """What a link tells of this port, which is asked from now on."""
    told: SimpleQueue[GridEvent] = SimpleQueue()
    asking = Link([name], told.put)
    thread = threading.Thread(target=asking.run, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        asking.close()
        thread.join()


def test_what_names_no_port_is_listed_with_why(plugged):
    [found] = attached(["monome:"])
    assert (found.name, found.device) == ("monome:", None)
    assert "the port's name is missing" in found.trouble


def test_a_pattern_lists_all_that_fit(plugged, tmp_path):
    with PtyPort(Board(2, 2), link_name=tmp_path / "grid0"), PtyPort(Board(3, 3), link_name=tmp_path / "grid1"):
        assert [found.device.rows for found in attached([f"{tmp_path}/grid*"])] == [2, 3]


def test_asking_who_is_there_leaves_the_leds_as_they_are(plugged):
    with PtyPort(Board(4, 4)) as port:
        before = port.call(lambda board, _: board.leds)
        [found] = attached([port.path])
        assert found.device is not None
        assert port.call(lambda board, _: board.leds) == before


def test_ports_may_be_sockets(plugged):
    with TcpPort(Board(3, 3)) as port:
        [found] = attached([port.url])
        assert (found.name, found.device.rows) == (port.url, 3)


def test_a_name_that_is_a_link_is_listed_once_by_what_it_leads_to(plugged, tmp_path):
    with PtyPort(Board(2, 2), link_name=tmp_path / "grid") as port:
        real = os.path.realpath(port.path)
        plugged(usb(real))
        [found] = attached([port.path, real])
        assert found.name == real


@contextmanager
def pty() -> Iterator[str]:
    master, slave = os.openpty()
    try:
        yield os.ttyname(slave)
    finally:
        os.close(master)
        os.close(slave)


@contextmanager
def busy() -> Iterator[str]:
    with pty() as name, serial.Serial(name, exclusive=True):
        yield name


@contextmanager
def absent() -> Iterator[str]:
    yield "/dev/ttyUSB97"


@contextmanager
def older() -> Iterator[str]:
    with PtyPort(Board(2, 2, proto=0)) as port:
        yield port.path


@pytest.mark.parametrize(
    ("there", "says"),
    [
        pytest.param(busy, ["another program", "close it"], id="busy"),
        pytest.param(absent, ["no such port"], id="absent"),
        pytest.param(older, ["protocol 0", "older", "load"], id="an older protocol"),
    ],
)
def test_what_cannot_be_used_is_listed_with_why(plugged, there, says):
    with there() as name:
        plugged(usb(name))
        [found] = attached()
    assert found.device is None
    assert "\n" not in found.trouble
    assert all(word in found.trouble for word in says), found.trouble


# Who may use a port ------------------------------------------------------------------------------------------------


def group_id(group: str) -> int:
    """The group's number; it skips the test where this system has no such group."""
    try:
        return grp.getgrnam(group).gr_gid
    except KeyError:
        pytest.skip(f"this system has no group {group}")


@contextmanager
def forbidden_to_us(group: int) -> Iterator[str]:
    """A port of this group, while we are nobody."""
    master, slave = os.openpty()
    name = os.ttyname(slave)
    os.close(slave)
    os.chmod(name, 0o060)
    os.chown(name, 0, group)
    os.setegid(65_534)
    os.seteuid(65_534)
    try:
        yield name
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.close(master)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize(
    ("group", "says"),
    [
        pytest.param("dialout", ["only group dialout", "sudo usermod -aG dialout $USER", "log out and in again"]),
        pytest.param("plugdev", ["only group plugdev", "sudo usermod -aG plugdev $USER", "log out and in again"]),
        pytest.param("root", ["only root", "udev rule", "docs/grid.md"]),
        pytest.param(None, ["you may not use the port"], id="a group without a name"),
    ],
)
def test_a_forbidden_port_is_listed_with_the_group_to_join(plugged, group, says):
    with forbidden_to_us(group_id(group) if group else 54_321) as name:
        plugged(usb(name))
        [found] = attached()
    assert all(word in found.trouble for word in says), found.trouble


@pytest.mark.skipif(os.geteuid() == 0, reason="root may use every port")
def test_a_port_forbidden_to_whoever_tests_is_listed_as_such(plugged):
    with pty() as name:
        os.chmod(name, 0)
        [found] = attached([name])
    assert found.device is None
    assert "may use the port" in found.trouble


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_who_joined_the_group_after_the_login_is_told_to_log_in_again(plugged, monkeypatch):
    dialout = group_id("dialout")
    joined = grp.struct_group(("dialout", "x", dialout, ["nobody"]))
    monkeypatch.setattr(link.grp, "getgrgid", lambda _: joined)
    monkeypatch.setattr(link.getpass, "getuser", lambda: "nobody")
    with forbidden_to_us(dialout) as name:
        plugged(usb(name))
        [found] = attached()
    assert "joined group dialout after you had logged in" in found.trouble


def test_a_device_that_goes_while_it_is_listed_is_left_out(monkeypatch):
    def trip() -> list[ListPortInfo]:
        raise TypeError("int() can't convert non-string with explicit base")

    monkeypatch.setattr(list_ports, "comports", trip)
    assert attached() == ()


def test_ports_are_listed_though_there_is_no_directory_of_stable_names(plugged, monkeypatch):
    monkeypatch.setattr(ports, "BY_ID", Path("/nonexistent"))
    plugged(usb("/dev/ttyUSB97"))
    [found] = attached()
    assert found.by_id == ""
