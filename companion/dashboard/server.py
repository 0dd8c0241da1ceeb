"""The web server: waitress on a socket of our own, set so that viewers who vanish free their threads."""

import socket

from flask import Flask
from waitress.server import BaseWSGIServer, MultiSocketServer, create_server

from companion.dashboard.stream import MOST_STREAMS

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


def create(app: Flask, listener: socket.socket) -> BaseWSGIServer | MultiSocketServer:
    """The server, not yet running: call its `run` in a thread of its own, and its `close` to end it.

    Every stream holds a thread, so there are more threads than streams; looking ahead one request is what makes
    waitress notice within a second that a viewer has gone.
    """
    return create_server(
        app,
        sockets=[listener],
        threads=MOST_STREAMS + 28,
        channel_request_lookahead=1,
        connection_limit=400,
        ident=None,
    )
