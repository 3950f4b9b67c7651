"""Keeps scanned sheets of old land surveys."""

import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool

SHEET_BYTES = 60_000
SHEETS = 40


@dataclass
class Scan:
    parish: str
    sheets: list[str]


@dataclass
class Stored:
    scan: str
    sheets: int


@dataclass
class Sheet:
    scan: str
    number: int


@dataclass
class Dropped:
    scan: str
    number: int


def head_of(scan):
    return f"scan/{scan}"


def sheet_of(scan, number):
    return f"sheet/{number}/{scan}"


@tool("Scan.Store", output=Stored, effects=["internal_write"])
def store(scan: Scan, context):
    """Stores the recognized text of the sheets of a survey."""
    if not 1 <= len(scan.sheets) <= SHEETS or len(scan.parish) > 100:
        raise Failure("INVALID_INPUT", f"a scan has a parish and 1 to {SHEETS} sheets")
    for number, text in enumerate(scan.sheets, 1):
        if len(text.encode()) > SHEET_BYTES:
            raise Failure("INVALID_INPUT", f"sheet {number} has more than {SHEET_BYTES} bytes")
    key = context.external_key
    for number, text in enumerate(scan.sheets, 1):
        kv.set(sheet_of(key, number), text)
    kv.set(head_of(key), json.dumps({"parish": scan.parish, "sheets": len(scan.sheets)}))
    return Output(Stored(key, len(scan.sheets)), changes=[Change("scan", key, "create")])


# Removes the scan with all of its sheets.
@store.compensate
def remove(scan: Scan, result: Stored, key):
    if not kv.delete(head_of(key)):
        raise Failure("POLICY_DENIED", "the scan was removed")
    for number in range(1, len(scan.sheets) + 1):
        if not kv.delete(sheet_of(key, number)):
            raise Failure("POLICY_DENIED", f"sheet {number} of the scan was removed")
    return Output(None, changes=[Change("scan", key, "delete")])


@tool("Scan.DropSheet", output=Dropped, effects=["internal_write"])
def drop(sheet: Sheet, context):
    """Drops a sheet that cannot be read."""
    if len(sheet.scan.encode()) > 128:
        raise Failure("INVALID_INPUT", "the name of a scan has at most 128 bytes")
    if not kv.delete(sheet_of(sheet.scan, sheet.number)):
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the scan {sheet.scan} has no sheet {sheet.number}")
    return Output(Dropped(sheet.scan, sheet.number))
