"""Connects this package to the host's functions and exports the operators to the host."""

import wit_world.imports.context as _context
import wit_world.imports.log as _log
import wit_world.imports.types as _types
from componentize_py_types import Err, Ok

from . import _failure, _operators, _prelude


def thrown_by_host(error):
    """Converts an Err of the host to a Failure."""
    import json

    value = error.value
    detail = value.detail
    if detail is not None:
        try:
            detail = json.loads(detail)
        except ValueError:
            pass
    return _failure.Failure(
        value.code.name, value.message, retry_after_ms=value.retry_after_ms, detail=detail,
        applied=value.applied.name.lower(),
    )


class Host:
    """Host functions that both steps and tools have."""

    def log(self, level, message):
        _log.write(getattr(_log.Level, level.upper()), _failure.well_formed(message))

    def context(self):
        return vars(_context.get())


def answered(result):
    return result.value if isinstance(result, Ok) else thrown_by_host(result)


def served(name, function):
    """Returns the result of ``function``. Converts a raised exception for the host."""
    try:
        return function()
    except BaseException as raised:
        operator = _operators.operators.get(name)
        may_have_changed = operator is not None and operator.kind == "tool" and operator.may_change
        code, message, wait, detail, applied = _failure.described(raised, may_have_changed)
        error = _types.Error(getattr(_types.ErrorCode, code), message, wait, detail, getattr(_types.Applied, applied.upper()))
        failed = Err(error)
    finally:
        _operators.during(_prelude.finish)
    # Raises the error outside of the ``except`` block. Inside the block, Python would attach the original exception.
    # The error already contains the text of this exception.
    raise failed


def manifest(wit, version):
    """Builds the manifest of the plugin. ``wit`` is the module of the exported interface."""
    import json

    from . import _schema

    def one(operator):
        outcome_type, outcome_status = operator.outcome or (None, None)
        limits = operator.limits
        return wit.Operator(
            name=operator.name,
            description=operator.description,
            input_schema=json.dumps(_schema.of(operator.input)),
            output_schema=json.dumps(_schema.of(operator.output)),
            effects=[getattr(wit.Effect, effect.upper()) for effect in operator.effects],
            determinism=getattr(wit.Determinism, operator.determinism.upper()),
            outcome_type=outcome_type,
            outcome_status=outcome_status,
            resolution=wit.Resolution(operator.idempotent_by_key_seconds, operator.settling_ms),
            limits=wit.LimitsWanted(limits.get("memory_bytes"), limits.get("timeout_ms"), limits.get("output_bytes")),
        )

    return wit.Manifest(version=version, operators=[one(operator) for operator in _operators.operators.values()])


def tool_output(output):
    changes = [
        _types.StateChange(c.resource_type, c.resource_id, c.operation, c.version, c.etag, c.external_ref)
        for c in output.changes
    ]
    usage = output.usage and _types.Usage(
        output.usage.model, output.usage.provider_trace_id, output.usage.tokens_in, output.usage.tokens_out,
        output.usage.cost_micro_usd, output.usage.credits,
    )
    return _types.ToolOutput(output.result, output.receipt, changes, usage)
