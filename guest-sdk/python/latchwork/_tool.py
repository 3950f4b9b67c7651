"""The component of a tool. Clock and randomness are real."""

import wit_world.exports.plugin as wit_plugin
import wit_world.imports.config as _config
import wit_world.imports.invocation as _invocation
import wit_world.imports.kv as _kv
import wit_world.imports.random as _random
import wit_world.imports.secrets as _secrets
import wit_world.imports.wall_clock as _clock
from componentize_py_types import Err

from . import Change, _host, _operators, _prelude
from ._component import Host, manifest, served, tool_output
from ._failure import Failure


def _granted(function, what, grant):
    try:
        return function()
    except Err as error:
        why = type(error.value).__name__
        said = getattr(error.value, "value", "")
    if why.endswith("NotGranted"):
        raise Failure("POLICY_DENIED", f"{what}: not granted; add grants = {{ {grant} = ... }} in latch.toml")
    if why.endswith("Missing"):
        raise Failure("MISSING_REQUIRED_CONTEXT", f"{what} is granted but has no value")
    if why.endswith("TooLarge"):
        raise Failure("INVALID_INPUT", f"{what}: entry too large; a key has at most 256 bytes and a value at most 64 KiB")
    raise Failure("DEPENDENCY_UNAVAILABLE", f"{what}: {said}", applied="unknown")


class _ToolHost(Host):
    def now(self):
        instant = _clock.now()
        return instant.seconds, instant.nanoseconds

    def random_bytes(self, size):
        return _random.get_random_bytes(size)

    def invocation(self):
        return vars(_invocation.get())

    def config(self, key):
        return _config.get(key)

    def secret(self, name):
        return _granted(lambda: _secrets.get(name), f"secret {name}", "secrets")

    def kv_get(self, key):
        return _granted(lambda: _kv.get(key), f"kv key {key}", "kv")

    def kv_set(self, key, value):
        _granted(lambda: _kv.set(key, value), f"kv key {key}", "kv")

    def kv_delete(self, key):
        return _granted(lambda: _kv.delete(key), f"kv key {key}", "kv")

    def __getattr__(self, name):
        raise RuntimeError(f"{name} is only available in steps: a tool cannot call another tool")


def _sleep(_):
    raise RuntimeError("time.sleep: a tool cannot wait; raise Failure(..., retry_after_ms=...) and the host retries after that time")


def bind():
    _host.bind(_ToolHost())
    _prelude.install(_sleep)


def exports(version, names):
    """Returns the classes that componentize-py exports."""
    _operators.check_recipe("tool", names)
    made = manifest(wit_plugin, version)
    # Each of these modules exists only if the component exports the interface of the same name.
    if "reconcile" in names:
        import wit_world.exports.reconcile as wit_reconcile
    if "verify" in names:
        import wit_world.exports.verify as wit_verify
    _prelude.close()

    class Plugin:
        def describe(self):
            return made

    class Invoke:
        def invoke(self, operator, args):
            return served(operator, lambda: tool_output(_operators.invoke(operator, args)))

    class Reconcile:
        def reconcile(self, operator, external_key, args):
            verdict = served(operator, lambda: _operators.reconcile(operator, external_key, args))
            if isinstance(verdict, _operators.Happened):
                return wit_reconcile.Verdict_Happened(tool_output(verdict.result))
            if isinstance(verdict, _operators.NotYet):
                return wit_reconcile.Verdict_NotYet(int(verdict.milliseconds))
            return wit_reconcile.Verdict_DidNotHappen() if verdict == "did_not_happen" else wit_reconcile.Verdict_Unknown()

    class Verify:
        def verify(self, operator, change):
            found = served(operator, lambda: _operators.verify(operator, Change(**vars(change))))
            return wit_verify.Finding_Confirmed() if found is True else wit_verify.Finding_Mismatch(str(found))

    class Compensate:
        def compensate(self, operator, external_key, args, result):
            return served(operator, lambda: tool_output(_operators.compensate(operator, external_key, args, result)))

    made_classes = {"Plugin": Plugin, "Invoke": Invoke}
    optional = {"reconcile": Reconcile, "verify": Verify, "compensate": Compensate}
    made_classes.update({optional[name].__name__: optional[name] for name in names})
    return made_classes
