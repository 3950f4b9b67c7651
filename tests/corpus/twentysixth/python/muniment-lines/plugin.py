import hashlib
from dataclasses import dataclass

from latchwork import Failure, log, step, tools


@dataclass
class Deed:
    file: str
    sha256: str


@dataclass
class Summary:
    lines: int
    words: int
    witnesses: list[str]


@step("Muniment.Lines")
def summary(deed: Deed, context) -> Summary:
    """Counts the lines and words of a deed, and lists its witnesses. The hash fixes the text of the deed."""
    expected = deed.sha256.lower()
    if len(expected) != 64 or not set(expected) <= set("0123456789abcdef"):
        raise Failure("INVALID_INPUT", f"the hash of {deed.file} is no SHA-256")
    answer = tools.call("Archive.Read", {"file": deed.file})
    text = answer.get("text") if isinstance(answer, dict) else None
    if not isinstance(text, str) or hashlib.sha256(text.encode()).hexdigest() != expected:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"{deed.file} is not the text of the hash")

    lines = [line.strip() for line in text.splitlines() if line.strip()]
    witnesses = {line.removeprefix("Witness:").strip() for line in lines if line.startswith("Witness:")}
    witnesses.discard("")
    log.info("%d lines", len(lines))
    return Summary(len(lines), sum(len(line.split()) for line in lines), sorted(witnesses))
