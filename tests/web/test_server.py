"""The web server ends when told, whatever its loop is doing at that moment."""

import gc
import socket
import threading
import time
from typing import Any

import pytest
from flask import Flask, Response

from companion.dashboard.server import Server, listen


class Bell:
    """Wakes the streams, as `Live` does."""

    def __init__(self) -> None:
        self._rung = threading.Event()

    def ring(self) -> None:
        self._rung.set()

    def streamed(self) -> Response:
        def words():
            yield b"first"
            self._rung.wait(5)
            yield b"last"

        return Response(words())


@pytest.mark.parametrize("viewers", [0, 3])
def test_the_loop_may_be_awake_when_the_server_is_stopped(viewers):
    bell: Any = Bell()
    app = Flask(__name__)
    app.add_url_rule("/", view_func=bell.streamed)
    server = Server(app, listen(0), bell)
    loop = threading.Thread(target=server.run, daemon=True)
    loop.start()
    open_streams = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(viewers)]
    for stream in open_streams:
        stream.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        stream.recv(100)

    # The loop runs what it was asked before the thread that asked has written its byte: two bytes stand for that. And
    # somebody comes whenever the server was about to let all go.
    trigger = server._server.trigger
    write = trigger._physical_pull

    def write_late() -> None:
        open_streams.append(socket.create_connection(("127.0.0.1", server.port)))
        write()
        time.sleep(0.05)
        write()

    trigger._physical_pull = write_late
    server.stop()
    loop.join(5)
    assert not loop.is_alive()
    for stream in open_streams:
        stream.close()
    # A socket that nobody closed warns as it is collected, and warnings are errors.
    gc.collect()
