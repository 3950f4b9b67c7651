"""Connects Python's own clock, randomness and output to the host, and refuses files, network and processes.

Installed before the plugin is imported, so that ordinary code works, for example ``from time import time`` at the top
of a module.
"""

import _io
import builtins
import datetime
import io
import linecache
import logging
import os
import random
import secrets  # noqa: F401  (imported before its random source is replaced)
import socket
import sys
import time
import types
import uuid

# Imports modules that the standard library would import late. A running component has no files to import from.
import _strptime  # noqa: F401
import encodings.ascii  # noqa: F401
import encodings.cp1252  # noqa: F401
import encodings.idna  # noqa: F401
import encodings.latin_1  # noqa: F401
import encodings.utf_16  # noqa: F401
import encodings.utf_32  # noqa: F401
import encodings.utf_8_sig  # noqa: F401
import hashlib  # noqa: F401
import tokenize  # noqa: F401
import traceback  # noqa: F401
import unicodedata  # noqa: F401

from ._host import ask

_RealRandom = random.Random
_RealDateTime = datetime.datetime


def _nanoseconds(what):
    seconds, nanoseconds = ask(what).now()
    return seconds * 1_000_000_000 + nanoseconds


def _urandom(size, what="os.urandom"):
    """Returns ``size`` random bytes. The host returns at most 65,536 bytes per call."""
    parts = []
    while size > 0:
        parts.append(ask(what).random_bytes(min(size, 65_536)))
        size -= 65_536
    return b"".join(parts)


class _Random(_RealRandom):
    """A random.Random. Without an explicit seed, the host provides the seed on first use."""

    def __init__(self, x=None):
        self._pending = False
        super().__init__(0)
        self.seed(x)

    def seed(self, a=None, version=2):
        self._pending = a is None
        super().seed(0 if a is None else a, version)

    def _ready(self):
        if self._pending:
            seed = int.from_bytes(_urandom(32, "random"), "little")
            self._pending = False
            super().seed(seed)

    def random(self):
        self._ready()
        return super().random()

    def getrandbits(self, k):
        self._ready()
        return super().getrandbits(k)

    def getstate(self):
        self._ready()
        return super().getstate()

    def setstate(self, state):
        self._pending = False
        super().setstate(state)


_Random.__name__ = _Random.__qualname__ = "Random"
_Random.__module__ = "random"


class _IsDateTime(type):
    def __instancecheck__(cls, value):
        return isinstance(value, _RealDateTime)

    def __subclasscheck__(cls, other):
        return issubclass(other, _RealDateTime)


class _DateTime(_RealDateTime, metaclass=_IsDateTime):
    @classmethod
    def now(cls, tz=None):
        whole = _nanoseconds("datetime.now") // 1000
        moment = _RealDateTime.fromtimestamp(whole // 1_000_000, tz or datetime.timezone.utc)
        moment = moment.replace(microsecond=whole % 1_000_000)
        fields = (moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, moment.microsecond)
        return cls(*fields, tzinfo=tz and moment.tzinfo, fold=moment.fold)

    @classmethod
    def utcnow(cls):
        return cls.now()

    @classmethod
    def today(cls):
        return cls.now()


_DateTime.__name__ = _DateTime.__qualname__ = "datetime"
_DateTime.__module__ = "datetime"


class _Log(io.TextIOBase):
    """A text stream that writes each line as a log record."""

    def __init__(self, level):
        super().__init__()
        self._level, self._line = level, ""

    def writable(self):
        return True

    def write(self, text):
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            ask("print").log(self._level, line)
        return len(text)

    def finish(self):
        """Writes the last line if it has no line end."""
        if self._line:
            line, self._line = self._line, ""
            ask("print").log(self._level, line)


_INSTEAD = "a step must call a tool with tools.call, and a tool that needs this must be written in Rust"


def _denied(text):
    """Returns the error of a denied access. If the operator does not handle the error, the host reports
    CAPABILITY_DENIED."""
    error = PermissionError(text)
    error.latchwork_denied = True
    return error


def _no(what, why="has no files and no processes"):
    def refuse(*_, **__):
        raise _denied(f"{what}: a plugin {why}; {_INSTEAD}")

    return refuse


_FILES = (
    "access chdir chmod getcwd link listdir lstat mkdir makedirs open readlink remove removedirs rename renames replace "
    "rmdir scandir stat statvfs symlink system truncate unlink utime walk"
).split()


class _NoImports:
    """A module finder that refuses every import, because a running component has no files to import from."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        raise ModuleNotFoundError(
            f"{name} is not in the component, because it was not imported during the build: import it at the top of a module",
            name=name,
        )


_NETWORK = (
    "create_connection create_server getaddrinfo gethostbyaddr gethostbyname gethostbyname_ex getnameinfo getservbyname "
    "getservbyport if_nameindex socketpair"
).split()


class _Socket(socket.socket):
    """A socket class that cannot be instantiated. Must be a class, because libraries derive classes from it."""

    def __init__(self, *_, **__):
        raise _denied(
            f"socket: a plugin has no network; {_INSTEAD}"
        )


_Socket.__name__ = _Socket.__qualname__ = "socket"
_Socket.__module__ = "socket"


def _node():
    """Replaces the network address in uuid1 by a random number. The multicast bit marks the address as random."""
    if uuid._node is None:
        uuid._node = int.from_bytes(_urandom(6, "uuid.getnode"), "big") | 1 << 40
    return uuid._node


def _exit(what):
    def refuse(code=None, *_):
        raise RuntimeError(f"{what}({'' if code is None else code}): a plugin answers, it does not exit")

    return refuse


class _LogRecord(logging.LogRecord):
    """A log record that reads the clock at the first use of its time, for example for ``%(asctime)s``. A pure step may
    write log records without their time."""

    _TIMES = ("created", "msecs", "relativeCreated")

    def __init__(self, *args, **kwargs):
        # The constructor of the standard library reads the clock by itself.
        real, logging.time = logging.time, types.SimpleNamespace(time=lambda: 0.0, time_ns=lambda: 0)
        try:
            super().__init__(*args, **kwargs)
        finally:
            logging.time = real
        for name in self._TIMES:
            vars(self).pop(name, None)

    def __getattr__(self, name):
        if name not in self._TIMES:
            raise AttributeError(name)
        self.read_time()
        return vars(self)[name]

    def read_time(self):
        """Reads the clock, unless an earlier use of the time has done so."""
        if "created" in vars(self):
            return
        at = time.time_ns()
        self.created, self.msecs, self.relativeCreated = at / 1e9, at // 1_000_000 % 1_000 + 0.0, at / 1e6


_format_record = logging.Formatter.format


def _formatted(formatter, record):
    """Formats a log record. A format that names a part of the time finds it in the attributes of the record."""
    template = getattr(formatter, "_fmt", None) or ""
    if isinstance(record, _LogRecord) and any(name in template for name in _LogRecord._TIMES):
        record.read_time()
    return _format_record(formatter, record)


def _times():
    elapsed = time.monotonic()
    return os.times_result((elapsed, 0.0, 0.0, 0.0, elapsed))


def finish():
    """Writes incomplete output lines at the end of a run."""
    sys.stdout.finish()
    sys.stderr.finish()


def install(sleep):
    """Replaces the functions of the standard library. ``sleep`` implements time.sleep. Called by
    ``_component``, never in a test."""
    os.urandom = random._urandom = _urandom
    random.Random = _Random
    random._inst = _Random()
    for name in random.__all__:
        if hasattr(_RealRandom, name):
            setattr(random, name, getattr(random._inst, name))

    clocks = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
    for name in clocks:
        setattr(time, f"{name}_ns", lambda name=name: _nanoseconds(f"time.{name}_ns"))
        setattr(time, name, lambda name=name: _nanoseconds(f"time.{name}") / 1e9)
    time.clock_gettime = lambda clk_id: _nanoseconds("time.clock_gettime") / 1e9
    time.clock_gettime_ns = lambda clk_id: _nanoseconds("time.clock_gettime_ns")
    time.clock_getres = lambda clk_id: 1e-6
    os.times = _times
    for name in ("localtime", "gmtime", "ctime"):
        real = getattr(time, name)
        setattr(time, name, lambda secs=None, real=real: real(time.time() if secs is None else secs))
    asctime, strftime = time.asctime, time.strftime
    time.asctime = lambda t=None: asctime(time.localtime() if t is None else t)
    time.strftime = lambda format, t=None: strftime(format, time.localtime() if t is None else t)
    time.sleep = sleep
    logging.setLogRecordFactory(_LogRecord)
    logging.Formatter.format = _formatted
    datetime.datetime = _DateTime

    uuid._node, uuid.getnode = None, _node
    # `uuid._generate_time_safe` would read the time of the system. Without this function, uuid1 uses the replaced
    # clock.
    uuid._generate_time_safe = None

    socket.socket = socket.SocketType = _Socket
    for name in _NETWORK:
        if hasattr(socket, name):
            setattr(socket, name, _no(f"socket.{name}", "has no network"))
    socket.gethostname = lambda: "localhost"
    socket.getfqdn = lambda name="": name or "localhost"

    os._exit, os.abort = _exit("os._exit"), _exit("os.abort")
    os.environ.clear()
    for name in _FILES:
        if hasattr(os, name):
            setattr(os, name, _no(f"os.{name}"))


def close():
    """Closes the file system at the end of the build. A running component has no files, so a later import
    must fail with a clear message."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and file.endswith(".py") and "/latchwork/" not in file and not file.startswith(os.path.dirname(os.__file__)):
            # Leaves out the modification time, so that linecache does not check the file for changes. A component has
            # no files, so a check would fail.
            with open(file, encoding="utf-8") as source:
                linecache.cache[file] = (0, None, source.readlines(), file)
    builtins.open = io.open = _no("open")
    # Refuses the functions below `open` too. A module loader opens a source file with them to show a traceback.
    io.open_code = _io.open_code = io.FileIO = _io.FileIO = _no("open")
    sys.meta_path[:] = [*(finder for finder in sys.meta_path if "Path" not in str(finder)), _NoImports]
    logging._startTime = 0
    sys.stdout, sys.stderr = _Log("info"), _Log("warn")
    for handler in [*logging.getLogger().handlers, logging.lastResort]:
        if isinstance(handler, logging.StreamHandler) and "stream" in vars(handler):
            handler.setStream(sys.stderr)
