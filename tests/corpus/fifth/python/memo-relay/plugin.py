"""Puts a memo into the tray of a department. The tray is the map. A memo that is put into it again has the same name,
so that a repetition leaves one memo."""

from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Memo:
    department: str
    text: str


@dataclass
class Relayed:
    memo: str


@tool("Memo.Relay", output=Relayed, effects=["internal_write"], idempotent_by_key_seconds=86400)
def relay(memo: Memo, context):
    """Puts a memo into the tray of a department."""
    if not memo.department or len(memo.department) > 40:
        raise Failure("INVALID_INPUT", "the department is empty or too long")
    name = f"memo/{memo.department}/{context.trace_id}"
    kv.set(name, memo.text)
    return Output(Relayed(name), changes=[Change("memo", name, "create", version=memo.text)])
