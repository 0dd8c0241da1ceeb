"""The page: reads the log and the live picture, and puts what people say on the session's queue."""

from queue import Queue

from flask import Flask

from companion.dashboard import api, faults, guard, stream, views
from companion.dashboard.table import Table
from companion.inputs import Correction, Declaration
from companion.live import Live
from companion.store import Store
from vision.board import Profile

__all__ = ["create_app"]


def create_app(
    store: Store,
    live: Live,
    said: Queue[Declaration | Correction],
    profile: Profile,
    switchboard: faults.Switchboard | None = None,
) -> Flask:
    """The web application; it starts nothing. Only a simulated table has a switchboard of faults.

    Raises ProfileError for a board that the page cannot draw.
    """
    table = Table(store, live, profile)
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = 16 * 1024
    app.json.sort_keys = False  # type: ignore[attr-defined]  # Flask's default provider has it, the base class not
    guard.protect(app)
    app.register_blueprint(views.pages(live, profile))
    app.register_blueprint(stream.events(table, live))
    app.register_blueprint(api.writes(said, profile))
    if switchboard is not None:
        app.register_blueprint(faults.switches(switchboard))
    return app
