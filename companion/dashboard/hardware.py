"""The grid as plain JSON, for the hardware panel of the page and for programs."""

from dataclasses import asdict
from typing import Any

from companion.lights import Light
from companion.live import Hardware
from firmware_protocol.messages import SensorKind

Json = dict[str, Any]


def hardware_to_json(hardware: Hardware | None) -> Json | None:
    """The grid with its cells, by index; null where none is wanted."""
    if hardware is None:
        return None
    counters, device = hardware.counters, hardware.counters.device
    state = "there" if device is not None else "lost" if counters.trouble else "looking"
    says, shown = dict(hardware.says), dict(hardware.lights)
    return {
        "state": state,
        "why": counters.trouble,
        "since": hardware.since,
        "alone": hardware.alone,
        "sensed": hardware.sensed and device is not None and device.sensors is not SensorKind.NONE,
        "port": counters.port,
        "baud": counters.baud or None,
        "simulated": device is not None and device.simulated,
        "device": None
        if device is None
        else {
            "driver": device.driver,
            "uid": device.uid,
            "rows": device.rows,
            "columns": device.columns,
            "leds": device.leds.name.lower(),
            "sensors": device.sensors.name.lower(),
            "firmware": device.firmware,
        },
        "counters": {
            "found": counters.found,
            "lost": counters.lost,
            "events": counters.events,
            **asdict(counters.traffic),
        },
        "conditions": list(hardware.conditions),
        "cells": [
            {
                "cell": list(cell),
                "light": _light_to_json(shown.get(cell)),
                "occupied": says.get(cell),
                "stuck": cell in hardware.stuck,
            }
            for cell in hardware.cells
        ],
    }


def _light_to_json(light: Light | None) -> Json | None:
    """A light as a screen shows it: an LED's level is linear, a screen's is not (sRGB, about 2.2)."""
    if light is None:
        return None
    levels = (round(255 * (level / 255) ** (1 / 2.2)) for level in light.colour)
    return {"colour": "#{:02x}{:02x}{:02x}".format(*levels), "rhythm": light.rhythm.value}
