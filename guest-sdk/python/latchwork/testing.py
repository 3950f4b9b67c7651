"""A test host. With the test host, ``python3 -m unittest`` runs operators without Wasm."""

import contextlib
import io
import json
import os

from . import _failure, _host, _operators


class Host:
    """A test host with a fixed clock and no grants. Records ``calls``, ``events`` and ``logs``."""

    def __init__(self, *, now=1_763_766_000.0, tools=None, config=None, secrets=None, kv=None, external_key="latch:job_test:s1:1"):
        self.calls, self.events, self.logs = [], [], []
        self._now, self._tools, self._config = now, tools or {}, config or {}
        self._secrets, self._kv = secrets or {}, None if kv is None else dict(kv)
        self._external_key = external_key

    def run(self, name, value):
        """Runs a step operator. Like the host, it converts input and output from and to JSON."""
        return json.loads(self._under(lambda: _operators.run(name, json.dumps(value))))

    def invoke(self, name, args):
        """Runs a tool operator. Returns an Output with the result as a value."""
        return self._read(self._under(lambda: _operators.invoke(name, json.dumps(args))))

    def reconcile(self, name, key, args):
        """Asks whether the call with this key happened. Returns Happened, NotYet, "did_not_happen" or
        "unknown"."""
        verdict = self._under(lambda: _operators.reconcile(name, key, json.dumps(args)))
        return _operators.Happened(self._read(verdict.result)) if isinstance(verdict, _operators.Happened) else verdict

    def verify(self, name, change):
        return self._under(lambda: _operators.verify(name, change))

    def compensate(self, name, key, args, result):
        return self._read(self._under(lambda: _operators.compensate(name, key, json.dumps(args), json.dumps(result))))

    @staticmethod
    def _read(output):
        output.result = json.loads(output.result)
        output.receipt = output.receipt and json.loads(output.receipt)
        return output

    def _under(self, function):
        before, printed = _host.bind(self), io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                return function()
        finally:
            self.logs.extend(("info", line) for line in printed.getvalue().splitlines())
            _host.bind(before)

    # Functions of the host.

    def now(self):
        return int(self._now), int(self._now % 1 * 1e9)

    def random_bytes(self, size):
        return os.urandom(size)

    def log(self, level, message):
        self.logs.append((level, message))

    def context(self):
        return {
            "tenant": "default", "actor": "ada", "correlation_id": "cor_test", "job_id": "job_test", "plan_id": "test",
            "step_id": "s1",
        }

    def invocation(self):
        return {
            "trace_id": "trace_test", "slot": "s1", "external_key": self._external_key, "attempt": 1, "tries_before": 0,
            "timeout_ms": 30_000,
        }

    def call(self, operator, args, action_key):
        self.calls.append((operator, json.loads(args)))
        if operator not in self._tools:
            raise _failure.Failure("DEPENDENCY_UNAVAILABLE", f"the test host has no tool {operator}: pass it in tools")
        return json.dumps(self._tools[operator](json.loads(args)))

    def call_all(self, calls):
        answers = []
        for call in calls:
            try:
                answers.append(self.call(*call))
            except _failure.Failure as failure:
                answers.append(failure)
        return answers

    def emit(self, name, payload):
        self.events.append((name, json.loads(payload)))

    def config(self, key):
        return json.dumps(self._config[key]) if key in self._config else None

    def secret(self, name):
        if name not in self._secrets:
            raise _failure.Failure("POLICY_DENIED", f"secret {name}: not granted; pass it in secrets")
        return self._secrets[name]

    def _map(self):
        if self._kv is None:
            raise _failure.Failure("POLICY_DENIED", "kv: not granted; pass kv")
        return self._kv

    def kv_get(self, key):
        return self._map().get(key)

    def kv_set(self, key, value):
        self._map()[key] = value

    def kv_delete(self, key):
        return self._map().pop(key, None) is not None
