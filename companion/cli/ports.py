"""`companion ports`: the serial ports and the grid that answers on each."""

import json

import click

from firmware_protocol.messages import SensorKind
from firmware_protocol.ports import Attached, attached


@click.command()
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a port on stdout.")
def ports(names: tuple[str, ...], as_json: bool) -> None:
    """Lists the USB serial ports, and those named besides, with the grid that answers or what is in its way."""
    found = attached(names)
    for port in found:
        click.echo(json.dumps(_port_to_json(port)) if as_json else _port_in_words(port))
    if not found:
        click.echo("no USB serial port is attached; plug the grid in, or name its port", err=True)


def _port_to_json(port: Attached) -> dict[str, object]:
    device = port.device
    answers = None
    if device is not None:
        answers = {
            "driver": device.driver,
            "uid": device.uid,
            "rows": device.rows,
            "columns": device.columns,
            "leds": device.leds.name.lower(),
            "sensors": device.sensors.name.lower(),
            "firmware": device.firmware,
            "simulated": device.simulated,
        }
    return {
        "port": port.name,
        "by_id": port.by_id or None,
        "usb": port.usb or None,
        "product": port.product or None,
        "grid": answers,
        "trouble": port.trouble or None,
    }


def _port_in_words(port: Attached) -> str:
    """A port for people: its name, then what answers or why nothing does, and its lasting name on a line of its own."""
    device = port.device
    if device is None:
        said = port.trouble
    else:
        sensors = "no sensors" if device.sensors is SensorKind.NONE else f"sensors {device.sensors.name.lower()}"
        simulated = ", simulated" if device.simulated else ""
        said = (
            f"{device.rows} x {device.columns} cells, driver {device.driver}, uid {device.uid or 'none'}, "
            f"LEDs {device.leds.name.lower()}, {sensors}, firmware {device.firmware}{simulated}"
        )
    rest = [f"{'':14}{line}" for line in (" ".join((port.usb, port.product)).strip(), port.by_id) if line]
    return "\n".join([f"{port.name:<14}{'' if len(port.name) < 14 else ' '}{said}", *rest])
