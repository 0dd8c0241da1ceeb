"""Keeps other web sites out: who may ask, who may write, and what a page of ours may load.

The page has no login, because it answers on this computer alone. So every request must name this computer as its
host, or a foreign name could be rebound to it; and a write must be JSON with a header of ours, which no form and no
script of another origin can send unasked.
"""

import json
from urllib.parse import urlsplit

from flask import Flask, Response, abort, request
from werkzeug.exceptions import HTTPException, ServiceUnavailable
from werkzeug.wrappers import Response as WSGIResponse

from companion.store import StoreError

_OWN_NAMES = {"localhost", "127.0.0.1", "::1"}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def protect(app: Flask) -> None:
    """Checks every request before it is answered, and sets the headers of every answer."""
    app.before_request(_check)
    app.after_request(_set_headers)
    app.register_error_handler(HTTPException, _explain)
    app.register_error_handler(StoreError, lambda error: _explain(ServiceUnavailable(str(error))))


def _check() -> None:
    try:
        name = urlsplit(f"//{request.host}").hostname
    except ValueError:
        name = None
    if name not in _OWN_NAMES:
        abort(421, "this page answers to localhost and 127.0.0.1 only")
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return
    origin = request.headers.get("Origin")
    if origin is not None and origin != f"{request.scheme}://{request.host}":
        abort(403, "another site may not write here")
    if request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
        abort(403, "another site may not write here")
    if request.headers.get("X-Companion") != "1":
        abort(403, "a write needs the header X-Companion: 1")
    if not request.is_json:
        abort(415, "send JSON, as application/json")


def _explain(refused: HTTPException) -> WSGIResponse:
    """The refusal as JSON, with the headers that belong to it (Allow, Retry-After)."""
    response = refused.get_response()
    response.data = json.dumps({"why": refused.description})
    response.content_type = "application/json"
    return response


def _set_headers(response: Response) -> Response:
    for name, value in _HEADERS.items():
        response.headers[name] = value
    return response
