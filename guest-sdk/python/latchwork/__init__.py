"""SDK for Latchwork plugins in Python. README.md in this folder has examples and rules."""

import json as _json
from dataclasses import dataclass as _dataclass
from typing import Optional as _Optional

from . import _schema
from ._failure import Failure
from ._host import ask as _ask
from ._operators import Happened as happened
from ._operators import NotYet as not_yet
from ._operators import Output
from ._operators import register as _register

__all__ = [
    "Change", "Failure", "Output", "Usage", "config", "events", "happened", "kv", "log", "not_yet", "secrets", "step",
    "tool", "tools",
]


def step(name, *, description=None, input=None, output=None, effects=None, determinism="pure", outcome=None, limits=None):
    """Registers the step operator ``name``, in the form ``Noun.Verb``, with the decorated ``function(input,
    context)``."""
    return _register(
        "step", name, description=description, input=input, output=output, effects=effects,
        determinism=determinism, outcome=outcome, limits=limits,
    )


def tool(
    name, *, description=None, input=None, output=None, effects=None, determinism="external", outcome=None, limits=None,
    idempotent_by_key_seconds=0, settling_ms=0,
):
    """Registers the tool operator ``name``, in the form ``Noun.Verb``, with the decorated ``function(args,
    context)``.

    The decorated function has decorators for the optional handlers. ``@send.reconcile`` decorates ``(args, key)``,
    ``@send.verify`` decorates ``(change)``, and ``@send.compensate`` decorates ``(args, result, key)``. The first two
    have no right to write. The last one raises a Failure if the call cannot be undone any more: a person then decides.
    """
    return _register(
        "tool", name, description=description, input=input, output=output, effects=effects, determinism=determinism,
        outcome=outcome, limits=limits, idempotent_by_key_seconds=idempotent_by_key_seconds, settling_ms=settling_ms,
    )


@_dataclass
class Change:
    """A change in the world. Must identify the resource precisely enough for a later check."""

    resource_type: str
    resource_id: str
    operation: str
    version: _Optional[str] = None
    etag: _Optional[str] = None
    external_ref: _Optional[str] = None


@_dataclass
class Usage:
    """Cost of a call. ``cost_micro_usd`` is in millionths of a US dollar, ``credits`` in the provider's own
    units."""

    model: _Optional[str] = None
    provider_trace_id: _Optional[str] = None
    tokens_in: int = 0
    tokens_out: int = 0
    cost_micro_usd: int = 0
    credits: int = 0


def _text(what, value):
    try:
        return _schema.text(value)
    except RecursionError:
        raise Failure("INVALID_INPUT", f"{what}: not JSON: it contains itself or is nested too deeply") from None
    except (TypeError, ValueError) as error:
        raise Failure("INVALID_INPUT", f"{what}: not JSON: {error}") from error


class tools:
    """Tool calls, the only access of a step to the outside world.

    A call takes effect at most once. The host itself retries a failed call, records the final answer, and
    returns the recorded answer from then on.
    """

    @staticmethod
    def call(operator, args, *, action_key=None):
        """Calls a tool and waits for its final answer. Raises Failure."""
        text = _text(f"arguments of {operator}", args)
        return _json.loads(_ask("tools.call").call(operator, text, action_key))

    @staticmethod
    def call_all(calls):
        """Calls several tools concurrently. ``calls`` has pairs ``(operator, args)`` or triples with an
        action key.

        Returns the answers in the order of the calls. A failed call gives a Failure in the list and raises
        nothing.
        """
        requests = []
        for operator, args, *key in calls:
            requests.append((operator, _text(f"arguments of {operator}", args), key[0] if key else None))
        answers = _ask("tools.call_all").call_all(requests) if requests else []
        return [answer if isinstance(answer, Failure) else _json.loads(answer) for answer in answers]


class events:
    """Informational events for consumers outside the host."""

    @staticmethod
    def emit(name, payload):
        _ask("events.emit").emit(name, _text(f"payload of {name}", payload))


class log:
    """Log records with the trace context of the step. ``print`` and ``logging`` write log records too."""

    @staticmethod
    def _write(level, message, arguments):
        _ask(f"log.{level}").log(level, str(message) % arguments if arguments else str(message))

    @staticmethod
    def trace(message, *arguments):
        log._write("trace", message, arguments)

    @staticmethod
    def debug(message, *arguments):
        log._write("debug", message, arguments)

    @staticmethod
    def info(message, *arguments):
        log._write("info", message, arguments)

    @staticmethod
    def warn(message, *arguments):
        log._write("warn", message, arguments)

    @staticmethod
    def error(message, *arguments):
        log._write("error", message, arguments)


class config:
    """The plugin's ``config`` table in latch.toml. Available only in tools."""

    @staticmethod
    def get(key, default=None):
        text = _ask("config.get").config(key)
        return default if text is None else _json.loads(text)


class secrets:
    """Placeholders of secrets. The host replaces them where a grant binds the secret. Available only in tools."""

    @staticmethod
    def get(name):
        return _ask("secrets.get").secret(name)


class kv:
    """A small persistent map of bytes in the namespace of the kv grant. Each tenant has a map of its own,
    unless the grant is shared. A key has at most 256 bytes and a value at most 64 KiB. Available only in
    tools."""

    @staticmethod
    def get(key):
        return _ask("kv.get").kv_get(key)

    @staticmethod
    def set(key, value):
        _ask("kv.set").kv_set(key, value.encode() if isinstance(value, str) else bytes(value))

    @staticmethod
    def delete(key):
        return _ask("kv.delete").kv_delete(key)
