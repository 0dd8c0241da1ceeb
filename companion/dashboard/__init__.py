"""The page: reads the log and the live picture, and puts what people say on the session's queue."""

from queue import Queue

from flask import Flask

from companion.dashboard import api, faults, guard, magestone_api, pathstone_api, stream, tapped, views
from companion.dashboard.magestone_table import MageStoneTable
from companion.dashboard.pathstone_table import PathstoneTable
from companion.dashboard.table import Table
from companion.games.magestone import table as magestone
from companion.games.pathstone import series
from companion.inputs import Correction, Declaration
from companion.live import Live
from companion.store import MageStoneStore, PathstoneStore, Resume, Store
from vision.board import Profile

__all__ = ["create_app", "create_magestone_app", "create_pathstone_app"]


def create_app(
    store: Store,
    live: Live,
    said: Queue[Declaration | Correction],
    profile: Profile,
    switchboard: faults.Switchboard | None = None,
) -> Flask:
    """The web application for Pathways; it starts nothing. Only a simulated table has a switchboard of faults.

    Raises ProfileError for a board that the page cannot draw.
    """
    app = _app(live, Table(store, live, profile), "table.html", profile)
    app.register_blueprint(api.writes(said, profile))
    if switchboard is not None:
        app.register_blueprint(faults.switches(switchboard))
    return app


def create_pathstone_app(
    store: PathstoneStore,
    live: Live,
    said: Queue[series.Input | Resume],
    profile: Profile,
    *,
    watched: bool,
    switchboard: faults.Switchboard | None = None,
) -> Flask:
    """The web application for Pathstone; it starts nothing. The profile gives the pieces' colours and the usual size.

    `watched` says that a camera looks at that board, so that games are of its size.
    """
    table = PathstoneTable(store, live, profile, watched=watched)
    app = _app(live, table, "pathstone.html", profile)
    app.register_blueprint(pathstone_api.pathstone_writes(said, profile.board.rows if watched else None, store))
    app.register_blueprint(pathstone_api.pathstone_games(table))
    app.register_blueprint(tapped.taps(live))
    if switchboard is not None:
        app.register_blueprint(faults.switches(switchboard))
    return app


def create_magestone_app(
    store: MageStoneStore, live: Live, said: Queue[magestone.Input], profile: Profile, *, watched: bool
) -> Flask:
    """The web application for MageStone; it starts nothing. `watched` says that a camera looks at the board."""
    table = MageStoneTable(store, live, watched=watched)
    app = _app(live, table, "magestone.html", profile)
    app.register_blueprint(magestone_api.magestone_writes(said, table))
    app.register_blueprint(magestone_api.magestone_games(table))
    app.register_blueprint(tapped.taps(live))
    return app


def _app(live: Live, table: stream.Table, template: str, profile: Profile) -> Flask:
    """What the pages of all games share: the guard, the stream of the log, the page and the camera's picture."""
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = 16 * 1024
    app.json.sort_keys = False  # type: ignore[attr-defined]  # Flask's default provider has it, the base class not
    guard.protect(app)
    app.register_blueprint(views.pages(live, template, profile))
    app.register_blueprint(stream.events(table, live))
    return app
