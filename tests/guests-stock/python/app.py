"""Step in plain Python. Reads every source of input that a program can read."""

# All imports are at the top, because modules are loaded when the component is built.
import datetime
import encodings.idna  # otherwise loaded by the first lookup of a host name
import json
import os
import random
import socket
import sys
import time
import uuid

import wit_world
from componentize_py_types import Err
from wit_world import exports
from wit_world.exports import plugin
from wit_world.imports import clock, tools, types


class Plugin(exports.Plugin):
    def describe(self) -> plugin.Manifest:
        operator = plugin.Operator(
            name="Stock.Python",
            description="Reads every source of input.",
            input_schema="{\"type\":\"object\"}",
            output_schema="true",
            effects=[plugin.Effect.READ_ONLY],
            determinism=plugin.Determinism.PURE,
            outcome_type=None,
            outcome_status=None,
            resolution=plugin.Resolution(idempotent_by_key_seconds=0, settling_ms=0),
            limits=plugin.LimitsWanted(memory_bytes=None, timeout_ms=None, output_bytes=None),
        )
        return plugin.Manifest(version="1.0.0", operators=[operator])


def refused(do):
    """Returns the result of an attempt to leave the sandbox, or its error."""
    try:
        return f"{do()}"
    except OSError as error:
        return f"{type(error).__name__} {error.errno}"


class Run(exports.Run):
    def run(self, operator: str, input: str) -> str:
        told = json.loads(input)
        if told.get("exit") is not None:
            sys.exit(told["exit"])
        if told.get("raise"):
            raise ValueError("as told")
        if told.get("err"):
            raise Err(types.Error(types.ErrorCode.INVALID_INPUT, "as told", None, None, types.Applied.NO))
        began = time.time()
        answer = tools.call(told["call"], "{\"note\":1}", None) if told.get("call") else None
        heard = time.time()
        monotonic = time.monotonic()
        time.sleep(3600)
        loops = 0
        until = time.monotonic() + 0.001
        while time.monotonic() < until:
            loops += 1
        now = clock.now()
        print("to standard output")
        print("to standard error", file=sys.stderr)
        return json.dumps({
            "began": began,
            "heard": heard,
            "slept": round(time.monotonic() - monotonic, 3),
            "loops": loops,
            "injected": [now.seconds, now.nanoseconds],
            "today": datetime.datetime.now(datetime.timezone.utc).isoformat(),
            "random": random.random(),
            "fresh": random.Random().random(),
            "system": random.SystemRandom().randrange(10**9),
            "urandom": os.urandom(16).hex(),
            "uuid4": str(uuid.uuid4()),
            "set": list({f"k{i}" for i in range(8)}),
            "hash": hash("abc"),
            "environ": dict(os.environ),
            "argv": sys.argv[1:],
            "stdin": sys.stdin.read() if sys.stdin else None,
            "socket": refused(socket.socket),
            "lookup": refused(lambda: socket.getaddrinfo("example.com", 80)),
            "file": refused(lambda: open("/etc/passwd").read()),
            "listdir": refused(lambda: os.listdir("/")),
            "answer": answer,
        })
