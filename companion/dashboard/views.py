"""The page itself, and the camera's latest picture."""

import threading

from flask import Blueprint, Response, render_template, request

from companion.dashboard.magestone_words import token_label
from companion.live import Live, Picture
from vision.board import Profile, SquaresBoard
from vision.draw import draw_labels, draw_sightings, draw_tops, encode_jpeg, shrink_to_width

_PICTURE_WIDTH_PX = 960


def pages(live: Live, template: str, profile: Profile) -> Blueprint:
    """GET / and GET /picture.jpg."""
    blueprint = Blueprint("pages", __name__)
    lock = threading.Lock()
    drawn: tuple[Picture, bytes] | None = None

    @blueprint.get("/")
    def page() -> str:
        return render_template(template)

    @blueprint.get("/picture.jpg")
    def picture() -> Response:
        """The latest picture with its sightings; 204 where the viewer has it (`after` is the number it has)."""
        nonlocal drawn
        latest = live.picture()
        if latest is None or request.args.get("after") == str(latest.n):
            return Response(status=204)
        with lock:
            if drawn is None or drawn[0] is not latest:
                drawn = latest, _draw(latest, profile)
            data = drawn[1]
        response = Response(data, mimetype="image/jpeg")
        response.headers["X-Picture"] = str(latest.n)
        response.headers["Cache-Control"] = "no-store"
        return response

    return blueprint


def _draw(picture: Picture, profile: Profile) -> bytes:
    image_bgr = shrink_to_width(picture.image_bgr, _PICTURE_WIDTH_PX)
    if picture.calibration is not None and picture.reading is not None:
        image_bgr = draw_sightings(image_bgr, picture.calibration, profile, picture.reading)
    elif picture.calibration is not None and profile.marks is not None:
        labels = {cell: token_label(name) for cell, name in picture.tokens}
        image_bgr = draw_labels(image_bgr, picture.calibration, profile, labels)
    elif picture.calibration is not None and isinstance(profile.board, SquaresBoard):
        image_bgr = draw_tops(image_bgr, picture.calibration, profile, picture.tops)
    return encode_jpeg(image_bgr)
