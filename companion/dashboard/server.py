"""The web server: waitress on a socket of our own, set so that viewers who vanish free their threads."""

import logging
import socket
import threading
from functools import partial
from typing import Any

from flask import Flask
from waitress import wasyncore
from waitress.server import BaseWSGIServer, create_server

from companion.dashboard.stream import MOST_STREAMS
from companion.live import Live

App = Flask
"""What `create_app` makes and this module serves, for those that only pass it on."""

_GONE_MS = 15_000
"""How long the kernel waits for a viewer to take what was sent, before the connection is dropped."""


def listen(port: int) -> socket.socket:
    """A listening socket on 127.0.0.1; port 0 takes any free one. Raises OSError where the port is taken."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # Accepted connections inherit all of these on Linux.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * 1024)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _GONE_MS)
        listener.bind(("127.0.0.1", port))
        listener.listen(256)
    except OSError:
        listener.close()
        raise
    return listener


class Server:
    """The web server on a listening socket: `run` it in a thread of its own, `stop` it from another.

    Every stream holds a thread, so there are more threads than streams; looking ahead one request is what makes
    waitress notice within a second that a viewer has gone.
    """

    def __init__(self, app: Flask, listener: socket.socket, live: Live) -> None:
        self.port: int = listener.getsockname()[1]
        self._live = live
        self._connections: dict[int, Any] = {}
        # It warns whenever a request comes before the threads have started.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        server = create_server(
            app,
            map=self._connections,
            sockets=[listener],
            threads=MOST_STREAMS + 28,
            channel_request_lookahead=1,
            connection_limit=400,
            ident=None,
        )
        assert isinstance(server, BaseWSGIServer)  # one socket makes a plain server
        self._server = server
        self._ended = threading.Event()

    def run(self) -> None:
        """Answers requests until `stop`."""
        try:
            self._server.run()
        finally:
            self._ended.set()

    def stop(self) -> None:
        """Lets every viewer go and ends the threads; to be called once, after `run` was started."""
        trigger: Any = self._server.trigger
        trigger.pull_trigger(self._let_go)
        self._server.task_dispatcher.shutdown()
        # The loop ends when it has nothing to wait for. It may run this before the pull's own byte is written to the
        # trigger, so the trigger is closed here and not there; so is whoever has come in the meantime.
        left: dict[int, Any] = {}
        trigger.pull_trigger(partial(self._hand_over, left))
        self._ended.wait()
        wasyncore.close_all(left, ignore_all=True)

    def _hand_over(self, left: dict[int, Any]) -> None:
        """Runs in the server's own thread: moves its connections there, so that it has none to wait for."""
        left.update(self._connections)
        self._connections.clear()

    def _let_go(self) -> None:
        """Runs in the server's own thread: nobody else may touch its connections."""
        ours = (self._server, self._server.trigger)
        viewers = {number: one for number, one in self._connections.items() if one not in ours}
        wasyncore.close_all(viewers, ignore_all=True)
        # The streams wake, find their viewers gone, and end.
        self._live.ring()
