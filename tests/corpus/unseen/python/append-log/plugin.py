import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Entry:
    line: str


@dataclass
class Appended:
    lines: int


@tool("Audit.Append", output=Appended, effects=["internal_write"], idempotent_by_key_seconds=86400)
def append(entry: Entry, context):
    """Appends a line to the audit log."""
    if not entry.line.strip():
        raise Failure("INVALID_INPUT", "the line is empty")
    stored = kv.get("log")
    lines = json.loads(stored) if stored else []
    lines.append(entry.line)
    kv.set("log", json.dumps(lines))
    return Output(Appended(len(lines)), changes=[Change("audit-line", str(len(lines)), "create")])
