"""Operators of a plugin: registered by the author, described and run for the host."""

import inspect
import json
import typing

from . import _schema
from ._failure import Failure
from ._host import ask, during

EFFECTS = ("read_only", "produce_outcome", "internal_write", "external_write", "external_send")
DETERMINISM = ("pure", "stable", "external")
ACCOUNTS = ("reconcile", "verify", "compensate")

operators = {}


class Operator:
    """A registered operator."""

    def __init__(self, kind, name, function, options):
        self.kind, self.name, self.function = kind, name, function
        self.description = options["description"] or inspect.getdoc(function) or ""
        self.input, self.output = options["input"], options["output"]
        self.effects = options["effects"]
        self.determinism = options["determinism"]
        self.outcome = options["outcome"]
        self.limits = options["limits"] or {}
        self.idempotent_by_key_seconds = options.get("idempotent_by_key_seconds", 0)
        self.settling_ms = options.get("settling_ms", 0)
        self.accounts = {}

    @property
    def may_change(self):
        return any("write" in effect or "send" in effect for effect in self.effects)


def register(kind, name, **options):
    """Returns the decorator of ``step`` and ``tool``."""

    def decorate(function):
        where = f"{kind}({name!r})"
        if name in operators:
            raise TypeError(f"{where}: registered twice")
        if inspect.iscoroutinefunction(function):
            raise TypeError(f"{where}: its function must not be async; tool calls wait for their answers")
        if len(inspect.signature(function).parameters) != 2:
            raise TypeError(f"{where}: its function must take two arguments, the input and the context")
        hints = typing.get_type_hints(function)
        first = next(iter(inspect.signature(function).parameters))
        for key, annotation in (("input", hints.get(first)), ("output", hints.get("return"))):
            if options[key] is None:
                options[key] = typing.Any if annotation is None else annotation
            if options[key] is Output:
                options[key] = typing.Any
            _schema.of(options[key])
        outcome = options["outcome"]
        if outcome is not None and (not isinstance(outcome, tuple) or len(outcome) != 2):
            raise TypeError(f"{where}: outcome must be a pair such as ('Draft.Email', 'draft')")
        if options["effects"] is None:
            options["effects"] = ["produce_outcome" if outcome else "read_only"]
        for effect in options["effects"]:
            if effect not in EFFECTS:
                raise TypeError(f"{where}: invalid effect {effect}: use one of {', '.join(EFFECTS)}")
        if options["determinism"] not in DETERMINISM:
            raise TypeError(f"{where}: invalid determinism: use one of {', '.join(DETERMINISM)}")
        operator = Operator(kind, name, function, options)
        operators[name] = operator
        for account in ACCOUNTS:
            setattr(function, account, _account(operator, account))
        return function

    return decorate


def _account(operator, account):
    def decorate(function):
        if operator.kind != "tool":
            raise TypeError(f"{operator.name} is a step: only tools have {account}")
        operator.accounts[account] = function
        return function

    return decorate


def check_recipe(kind, exports):
    """Checks that the registered operators match latch-plugin.toml. Called once at the end of a build."""
    if not operators:
        raise TypeError(f"the plugin registers no operator: decorate a function with @{kind}('Noun.Verb')")
    for operator in operators.values():
        if operator.kind != kind:
            raise TypeError(f'{operator.name} is a {operator.kind}, but latch-plugin.toml says kind = "{kind}"')
        for account in operator.accounts:
            if account not in exports:
                raise TypeError(f'{operator.name} has {account}, but latch-plugin.toml does not export it: add exports = ["{account}"]')
    for account in exports:
        if not any(account in operator.accounts for operator in operators.values()):
            raise TypeError(f"latch-plugin.toml exports {account}, but no operator has it")


class Output:
    """A result with the facts that the host records with it. A tool may return an Output instead of a plain
    value."""

    def __init__(self, result, *, receipt=None, changes=(), usage=None):
        self.result, self.receipt, self.changes, self.usage = result, receipt, list(changes), usage


class Happened:
    """Verdict: the call happened, with this result or Output."""

    def __init__(self, result):
        self.result = result


class NotYet:
    """Verdict: the outcome is not known yet. The host asks again after this many milliseconds."""

    def __init__(self, milliseconds):
        self.milliseconds = milliseconds


class _Lazy:
    """A context that is read from the host on first use."""

    def __init__(self, *parts):
        self._parts = parts
        self._asked = None

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if self._asked is None:
            self._asked = {}
            for part in self._parts:
                self._asked.update(getattr(ask("the context"), part)())
        if name not in self._asked:
            raise AttributeError(f"the context has no field {name}: use one of {', '.join(self._asked)}")
        return self._asked[name]


def run(name, text):
    """Runs a step on JSON text and returns JSON text. Raises the exception of the function."""

    def go():
        operator = _find("step", name)
        return given(name, operator.function(_taken(operator, text), _Lazy("context")))

    return during(go)


def invoke(name, text):
    """Runs a tool on JSON text. Returns an Output with JSON text in its parts."""

    def go():
        operator = _find("tool", name)
        return _output(name, operator.function(_taken(operator, text), _Lazy("context", "invocation")))

    return during(go)


def reconcile(name, key, text):
    """Asks a tool whether a call happened. Returns Happened, NotYet, "did_not_happen" or "unknown"."""

    def go():
        operator = _find("tool", name)
        function = operator.accounts.get("reconcile")
        if function is None:
            return "unknown"
        verdict = function(_taken(operator, text), key)
        if isinstance(verdict, Happened):
            return Happened(_output(name, verdict.result))
        if isinstance(verdict, NotYet) or verdict in ("did_not_happen", "unknown"):
            return verdict
        raise TypeError(f"reconcile of {name} returned {verdict!r}: return one of happened(result), 'did_not_happen', not_yet(ms), 'unknown'")

    return during(go)


def verify(name, change):
    """Asks a tool whether a recorded change is still in place. Returns True or a description of the state
    found. Fails if the operator has no handler."""

    def go():
        function = _find("tool", name).accounts.get("verify")
        if function is None:
            raise Failure("DEPENDENCY_UNAVAILABLE", f"{name} has no verify handler")
        return function(change)

    return during(go)


def compensate(name, key, args, result):
    """Undoes a call."""

    def go():
        operator = _find("tool", name)
        function = operator.accounts.get("compensate")
        if function is None:
            raise Failure("INVALID_INPUT", f"{name} cannot be undone: it has no compensate handler")
        recorded = _schema.read(operator.output, json.loads(result))
        return _output(name, function(_taken(operator, args), recorded, key))

    return during(go)


def _find(kind, name):
    operator = operators.get(name)
    if operator is None or operator.kind != kind:
        raise Failure("INVALID_INPUT", f"this plugin has no {kind} {name}")
    return operator


def _taken(operator, text):
    try:
        return _schema.read(operator.input, json.loads(text))
    except (ValueError, TypeError) as error:
        raise Failure("INVALID_INPUT", f"invalid input of {operator.name}: {error}") from error


def given(name, value):
    """Serializes the result of an operator as JSON text."""
    if inspect.iscoroutine(value):
        value.close()
        raise TypeError(f"{name} returned a coroutine: its function must not be async; tool calls wait for their answers")
    try:
        return _schema.text(value)
    except RecursionError:
        raise Failure("SCHEMA_VALIDATION_FAILED", f"output of {name} is not JSON: it contains itself or is nested too deeply") from None
    except (TypeError, ValueError) as error:
        raise Failure("SCHEMA_VALIDATION_FAILED", f"output of {name} is not JSON: {error}") from error


def _output(name, value):
    output = value if isinstance(value, Output) else Output(value)
    receipt = None if output.receipt is None else given(name, output.receipt)
    return Output(given(name, output.result), receipt=receipt, changes=output.changes, usage=output.usage)
