"""What is attached to this computer's serial ports, and why it cannot be used where it cannot."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from firmware_protocol.driver import Device, Driver
from firmware_protocol.errors import LinkError, NoAnswer
from firmware_protocol.exchange import PORT_ERRORS, Exchange, Port
from firmware_protocol.link import BY_ID, NOTHING_KNOWN, choice_from, open_port, usb_ports
from firmware_protocol.messages import BAUD
from firmware_protocol.strip import AdalightDriver

_AT_ONCE = 8
_MUTE = "an Adalight strip is mute: nothing tells whether one is there"


@dataclass(frozen=True, slots=True)
class Attached:
    """A serial port and what answers on it."""

    name: str
    by_id: str
    """The name under /dev/serial/by-id, which stays the same whatever else is plugged in; "" for none."""
    usb: str
    """Vendor and product as in "2341:0043"; "" for a port that is not on USB."""
    product: str
    """What the USB device calls itself."""
    device: Device | None
    """The grid or strip that answers; None where none does."""
    trouble: str
    """Why it cannot be used, and what to do; "" where it can."""


def attached(names: Sequence[str] = ()) -> tuple[Attached, ...]:
    """The USB serial ports and those named besides, as for a Link, each asked who is there.

    That takes some 8 s where nothing answers. A port that is in use is not disturbed; a board that restarts when its
    port is opened does so.
    """
    usb = {port.name: port for port in usb_ports()}
    stable = {os.path.realpath(path): path.name for path in sorted(BY_ID.glob("*"))}
    asked = {name: choice_from(name).drivers for name in usb}
    nameless = []
    for text in names:
        try:
            fitting = choice_from(text).names()
        except LinkError as refused:
            nameless.append(Attached(text, "", "", "", None, str(refused)))
            continue
        for name in fitting:
            # Ports are asked side by side, so each needs drivers of its own.
            asked[name if "://" in name else os.path.realpath(name)] = choice_from(text).drivers
    with ThreadPoolExecutor(_AT_ONCE, "port") as pool:
        answers = list(pool.map(_who_answers, asked, asked.values()))
    found = []
    for name, (device, trouble) in zip(asked, answers, strict=True):
        port = usb.get(name)
        ids = f"{port.identity[0]:04x}:{port.identity[1]:04x}" if port is not None else ""
        found.append(
            Attached(name, stable.get(name, ""), ids, port.product if port is not None else "", device, trouble)
        )
    return (*found, *nameless)


def _who_answers(name: str, drivers: Sequence[Driver]) -> tuple[Device | None, str]:
    try:
        port = open_port(name, BAUD)
    except LinkError as trouble:
        return None, str(trouble)
    try:
        return _ask(port, drivers), ""
    except LinkError as trouble:
        return None, str(trouble)
    except PORT_ERRORS:
        return None, "the port is gone; is the cable in?"
    finally:
        port.close()


def _ask(port: Port, drivers: Sequence[Driver]) -> Device:
    for driver in drivers:
        if isinstance(driver, AdalightDriver):
            raise LinkError(_MUTE)
        exchange = Exchange(port, driver)
        try:
            while driver.device is None:
                exchange.round()
            return driver.device
        except NoAnswer as silence:
            if len(drivers) == 1:
                raise silence
    raise NoAnswer(NOTHING_KNOWN)
