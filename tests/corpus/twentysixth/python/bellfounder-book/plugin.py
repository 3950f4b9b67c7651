import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool

NOTES = ["C", "D", "E", "F", "G", "A", "B"]


@dataclass
class Bell:
    church: str
    note: str
    kilograms: int
    inscription: str


@dataclass
class Page:
    bell: str


@tool("Bell.Enter", effects=["internal_write"])
def enter(bell: Bell, context):
    """Enters a bell that was cast into the book of the foundry."""
    if bell.note[:1] not in NOTES or bell.note[1:] not in ("", "#", "b"):
        raise Failure("INVALID_INPUT", f"{bell.note} is no note")
    if bell.kilograms <= 0:
        raise Failure("INVALID_INPUT", "a bell has a weight")
    key = context.external_key
    entry = json.dumps(vars(bell), ensure_ascii=False, sort_keys=True)
    try:
        kv.set(f"bell/{key}", entry)
    except Failure as failure:
        if failure.code != "DEPENDENCY_UNAVAILABLE":
            raise
        raise Failure("TRANSIENT_DB_LOCK", "the book of the foundry is busy", retry_after_ms=2000) from failure
    return Output({"bell": key}, changes=[Change("bell", key, "create", version=entry)])


@tool("Bell.Look")
def look(page: Page, context) -> Bell:
    """Looks up a bell in the book of the foundry."""
    entry = kv.get(f"bell/{page.bell}")
    if entry is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no bell {page.bell}")
    return Bell(**json.loads(entry))
