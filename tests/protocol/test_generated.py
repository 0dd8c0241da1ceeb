"""What is made from the table of messages is made from the present one, and C reads it as Python does."""

import json
import subprocess
from zlib import crc32

import pytest

from firmware_protocol import generate
from firmware_protocol.codec import Decoder
from firmware_protocol.messages import MESSAGES, pack, unpack
from firmware_protocol.vectors import Vector, all_vectors
from hardware_sims.avr import MEGA, UNO, Build, SteppedBoard, build_image, build_native, missing

needs_tools = pytest.mark.skipif(missing() is not None, reason=str(missing()))
VECTORS = all_vectors()
FRAMES = b"".join(vector.frame for vector in VECTORS)


def test_what_is_committed_is_what_the_table_makes(capsys):
    assert generate.main(["--check"]) == 0, capsys.readouterr().out


def test_a_file_that_differs_is_named(tmp_path, monkeypatch, capsys):
    stale = tmp_path / "messages.h"
    stale.write_text("#define GRID_HELLO 0x02\n")
    monkeypatch.setattr(generate, "made_files", lambda: {stale: "#define GRID_HELLO 0x01\n"})
    assert generate.main(["--check"]) == 1
    assert str(stale) in capsys.readouterr().out
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: type(vector.message).__name__)
def test_no_two_bytes_of_a_vector_are_alike(vector: Vector):
    said = bytes((vector.message.TYPE, vector.seq)) + vector.payload
    assert len(set(said)) == len(said)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: type(vector.message).__name__)
def test_python_reads_and_writes_each_vector(vector: Vector):
    assert pack(vector.message) == vector.payload
    assert unpack(vector.message.TYPE, vector.payload) == vector.message
    (frame,) = Decoder().feed(vector.frame)
    assert (frame.seq, frame.message) == (vector.seq, vector.message)


def test_every_message_has_a_vector_and_the_file_has_them_all():
    assert [type(vector.message) for vector in VECTORS] == list(MESSAGES)
    path = next(path for path in generate.made_files() if path.name == "vectors.json")
    listed = json.loads(path.read_text("utf-8"))["vectors"]
    assert [bytes.fromhex(one["frame"]) for one in listed] == [vector.frame for vector in VECTORS]
    assert [bytes.fromhex(one["payload"]) for one in listed] == [vector.payload for vector in VECTORS]


def test_the_table_of_crc_32_is_that_of_zlib():
    for byte in range(256):
        # One byte after the start value: the table's entry for it, by the algorithm's own definition.
        assert crc32(bytes((byte,))) == generate.crc32_entry(byte ^ 0xFF) ^ 0xFFFFFF ^ 0xFFFFFFFF


@needs_tools
def test_native_c_reads_and_writes_each_vector():
    program = build_native(UNO, "check/vectors.c")
    assert subprocess.run([program], capture_output=True, check=True).stdout == FRAMES


@needs_tools
@pytest.mark.parametrize("build", [UNO, MEGA], ids=lambda build: build.mcu)
def test_the_avr_reads_and_writes_each_vector(build: Build):
    with SteppedBoard.avr(build, program="check/vectors.c") as board:
        sent = board.run(len(FRAMES) * 10 / 115_200 + 0.01)
    assert bytes(one.byte for one in sent) == FRAMES


@needs_tools
@pytest.mark.parametrize("build", [UNO, MEGA], ids=lambda build: build.mcu)
def test_the_images_build_without_a_warning(build: Build):
    assert build_image(build).read_bytes().startswith(b"\x7fELF")
