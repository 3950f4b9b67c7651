"""The component of a step. The build writes a module that calls ``bind``, imports the plugin, and then calls
``exports``."""

import wit_world.exports.plugin as wit_plugin
import wit_world.imports.clock as _clock
import wit_world.imports.events as _events
import wit_world.imports.rng as _rng
import wit_world.imports.tools as _tools
from componentize_py_types import Err

from . import _host, _operators, _prelude
from ._component import Host, answered, manifest, served, thrown_by_host


class _StepHost(Host):
    def now(self):
        instant = _clock.now()
        return instant.seconds, instant.nanoseconds

    def random_bytes(self, size):
        return _rng.bytes(size)

    def call(self, operator, args, action_key):
        try:
            return _tools.call(operator, args, action_key)
        except Err as error:
            failure = thrown_by_host(error)
        raise failure

    def call_all(self, calls):
        requests = [_tools.CallRequest(operator, args, key) for operator, args, key in calls]
        return [answered(result) for result in _tools.call_all(requests)]

    def emit(self, name, payload):
        _events.emit(name, payload)

    def __getattr__(self, name):
        raise RuntimeError(f"{name} is only available in tools: a step accesses the outside world with tools.call")


def _sleep(_):
    raise RuntimeError("time.sleep: a step cannot wait; use a wait step in the plan")


def bind():
    _host.bind(_StepHost())
    _prelude.install(_sleep)


def exports(version, names):
    """Returns the classes that componentize-py exports."""
    _operators.check_recipe("step", names)
    made = manifest(wit_plugin, version)
    _prelude.close()

    class Plugin:
        def describe(self):
            return made

    class Run:
        def run(self, operator, input):
            return served(operator, lambda: _operators.run(operator, input))

    return {"Plugin": Plugin, "Run": Run}
