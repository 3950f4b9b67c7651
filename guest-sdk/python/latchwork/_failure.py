"""The failure of an operator."""

import json
import linecache
import traceback

# The ten failure codes with the default of ``applied``: "unknown" if the failed call may have changed the
# world.
_APPLIED = {
    "NETWORK_TIMEOUT": "unknown",
    "RATE_LIMIT": "no",
    "TEMPORARY_PROVIDER_ERROR": "unknown",
    "TRANSIENT_DB_LOCK": "no",
    "DEPENDENCY_UNAVAILABLE": "unknown",
    "POLICY_DENIED": "no",
    "INVALID_INPUT": "no",
    "SCHEMA_VALIDATION_FAILED": "unknown",
    "MISSING_REQUIRED_CONTEXT": "no",
    "AUTH_FORBIDDEN": "no",
}


class Failure(Exception):
    """A failure with a code. Operators and failed tool calls raise a Failure.

    The host may retry a call that fails with one of the first five codes.
    """

    def __init__(self, code, message, *, retry_after_ms=None, detail=None, applied=None):
        super().__init__(message)
        if code not in _APPLIED:
            raise ValueError(f"invalid failure code {code} ({message}): use one of {', '.join(_APPLIED)}")
        if applied not in (None, "no", "unknown"):
            raise ValueError(f"applied must be 'no' or 'unknown', not {applied!r}")
        self.code = code
        self.message = message
        self.retry_after_ms = retry_after_ms
        self.detail = detail
        self.applied = applied or _APPLIED[code]


def described(raised, may_have_changed):
    """Converts an exception for the host. Replaces lone surrogates, because the host traps a component that passes
    one."""
    try:
        code, message, wait, detail, applied = _described(raised, may_have_changed)
    except Exception:  # Reached if the exception raises when it is formatted.
        message = f"{type(raised).__name__}, which cannot be converted to text"
        code, wait, detail, applied = "INVALID_INPUT", None, _unhandled({}, False), _applied(may_have_changed)
    return code, well_formed(str(message)), wait, None if detail is None else well_formed(detail), applied


def well_formed(text):
    """Replaces the characters that UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


def _described(raised, may_have_changed):
    """Returns code, message, wait in milliseconds, detail as JSON, and applied of a raised exception.

    An exception that is not a Failure is a defect of the operator. A mark in the detail makes the host report
    the exception as PLUGIN_EXCEPTION with its text and traceback. A host that does not know the mark reports
    the code INVALID_INPUT.
    """
    if isinstance(raised, Failure):
        detail = None if raised.detail is None else _text(raised.detail)
        wait = raised.retry_after_ms
        if wait is not None:
            wait = min(max(0, int(wait)), 0xFFFF_FFFF)
        return raised.code, raised.message, wait, detail, raised.applied
    said = _said(raised)
    detail = {
        "exception": type(raised).__name__,
        "message": str(raised),
        "traceback": _trace(raised),
    }
    return "INVALID_INPUT", said, None, _unhandled(detail, _is_denied(raised)), _applied(may_have_changed)


def _is_denied(raised):
    """Returns true if an access that the SDK denied caused the exception. Follows causes, contexts and
    reasons, because libraries wrap exceptions."""
    seen, waiting = set(), [raised]
    while waiting:
        one = waiting.pop()
        if not isinstance(one, BaseException) or id(one) in seen:
            continue
        if getattr(one, "latchwork_denied", False):
            return True
        seen.add(id(one))
        waiting += [one.__cause__, getattr(one, "reason", None)]
        if not one.__suppress_context__:
            waiting.append(one.__context__)
    return False


def _unhandled(detail, denied):
    """Marks an exception that the operator did not handle. The host recognizes the mark."""
    return _text({"latchwork:denied" if denied else "latchwork:exception": detail})


def _applied(may_have_changed):
    return "unknown" if may_have_changed else "no"


def _said(raised):
    """Returns the text of an exception, and the texts of the exceptions that it groups."""
    said = "".join(traceback.TracebackException.from_exception(raised).format_exception_only()).strip()
    if isinstance(raised, BaseExceptionGroup):
        said += " (" + "; ".join(_said(one) for one in raised.exceptions) + ")"
    return said


def _trace(raised):
    """Returns the traceback, causes first.

    Does not use `traceback.format_exception`, which parses source lines to underline parts of them. For an incomplete
    statement its parser opens files, and a component has none.
    """
    parts = []
    if raised.__cause__ is not None:
        parts += [_trace(raised.__cause__), "\nThe above exception was the direct cause of the following one:\n\n"]
    elif raised.__context__ is not None and not raised.__suppress_context__:
        parts += [_trace(raised.__context__), "\nDuring handling of the above exception, another one occurred:\n\n"]
    parts.append("Traceback (most recent call last):\n")
    for frame, line in traceback.walk_tb(raised.__traceback__):
        code = frame.f_code
        parts.append(f'  File "{code.co_filename}", line {line}, in {code.co_name}\n')
        text = linecache.getline(code.co_filename, line, frame.f_globals).strip()
        if text:
            parts.append(f"    {text}\n")
    parts += traceback.format_exception_only(raised)
    if isinstance(raised, BaseExceptionGroup):
        for number, one in enumerate(raised.exceptions, 1):
            parts += [f"\nOf these, {number}:\n", _trace(one)]
    return "".join(parts)


def _text(value):
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        return json.dumps(f"(detail that is not JSON: {error})")
