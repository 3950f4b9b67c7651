import hashlib
import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Dossier:
    patient: str
    sheets: list[str]


@dataclass
class Filed:
    dossier: str
    sheets: int


@dataclass
class Wanted:
    dossier: str


# A key of a call has no dot, so the sheets of two dossiers never share an entry.
def sheet_name(key, number):
    return f"{key}.{number}"


def cover(dossier):
    return json.dumps({"patient": dossier.patient, "sheets": len(dossier.sheets)}).encode()


def digest(found, sheets):
    return hashlib.sha256(json.dumps([found.decode(), sheets]).encode()).hexdigest()


def filed(dossier, key):
    change = Change("dossier", key, "create", version=digest(cover(dossier), dossier.sheets))
    return Output(Filed(key, len(dossier.sheets)), changes=[change])


@tool("Dossier.File", output=Filed, effects=["internal_write"])
def file(dossier: Dossier, context):
    """Files a dossier. Its cover is written last and makes the sheets visible."""
    if not dossier.patient.strip() or len(dossier.patient) > 200 or not 1 <= len(dossier.sheets) <= 20:
        raise Failure("INVALID_INPUT", "a dossier has a patient and 1 to 20 sheets")
    if any(len(sheet) > 15000 for sheet in dossier.sheets):
        raise Failure("INVALID_INPUT", "a sheet has at most 15000 characters")
    key = context.external_key
    written = False
    try:
        for number, sheet in enumerate(dossier.sheets):
            kv.set(sheet_name(key, number), sheet)
            written = True
        kv.set(key, cover(dossier))
    except Failure as failure:
        if written:
            raise Failure(failure.code, failure.message, applied="unknown") from failure
        raise
    return filed(dossier, key)


@file.reconcile
def find(dossier: Dossier, key):
    # Without a cover no operator reads the sheets, and the next try writes them again.
    return "did_not_happen" if kv.get(key) is None else happened(filed(dossier, key))


@file.verify
def check(change):
    found = kv.get(change.resource_id)
    if found is None:
        return "the dossier has no cover"
    sheets = [kv.get(sheet_name(change.resource_id, number)) for number in range(json.loads(found)["sheets"])]
    if None in sheets:
        return f"the dossier lacks its sheet {sheets.index(None)}"
    return True if digest(found, [sheet.decode() for sheet in sheets]) == change.version else "the dossier was changed"


@file.compensate
def take_back(dossier: Dossier, result, key):
    if kv.get(key) != cover(dossier):
        raise Failure("POLICY_DENIED", "the dossier was changed or removed")
    names = [sheet_name(key, number) for number in range(len(dossier.sheets))]
    if any(kv.get(name) != sheet.encode() for name, sheet in zip(names, dossier.sheets)):
        raise Failure("POLICY_DENIED", "a sheet was changed or removed")
    if not kv.delete(key):
        raise Failure("POLICY_DENIED", "the dossier was removed at the same time")
    for name in names:
        try:
            found = kv.delete(name)
        except Failure as failure:
            raise Failure(failure.code, failure.message, applied="unknown") from failure
        if not found:
            raise Failure("POLICY_DENIED", f"{name} was removed at the same time", applied="unknown")
    return Output(None, changes=[Change("dossier", key, "delete")])


@tool("Dossier.Open")
def open_dossier(wanted: Wanted, context) -> list[str]:
    """Returns the sheets of a dossier."""
    if "." in wanted.dossier:
        raise Failure("INVALID_INPUT", f"{wanted.dossier} is no dossier")
    found = kv.get(wanted.dossier)
    if found is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"no dossier {wanted.dossier}")
    sheets = [kv.get(sheet_name(wanted.dossier, number)) for number in range(json.loads(found)["sheets"])]
    if None in sheets:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the dossier {wanted.dossier} is not complete")
    return [sheet.decode() for sheet in sheets]
