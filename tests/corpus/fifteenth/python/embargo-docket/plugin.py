import json
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Request:
    collection: str
    reason: str
    years: int


@dataclass
class Docket:
    docket: str
    collection: str
    placed_at: str
    ends_in: int


def entry_name(key):
    return f"embargo/{key}"


def placed(key, entry):
    """Makes the output of a call from the stored entry."""
    return Output(
        Docket(entry["docket"], entry["collection"], entry["placed_at"], entry["ends_in"]),
        receipt={"docket": entry["docket"]},
        changes=[Change("embargo", key, "create", version=entry["docket"])],
    )


# The number of the docket is random and differs in each try. The operator is therefore not keyed: after a crash
# `reconcile` reads the number from the map.
@tool("Embargo.Place", output=Docket, effects=["internal_write"])
def place(request: Request, context):
    """Places an embargo on a collection of the archive."""
    if not 1 <= len(request.collection) <= 200 or not 1 <= len(request.reason) <= 2000:
        raise Failure("INVALID_INPUT", "collection and reason must have 1 to 200 and 1 to 2,000 characters")
    if not 1 <= request.years <= 80:
        raise Failure("INVALID_INPUT", f"an embargo lasts 1 to 80 years, not {request.years}")
    now = datetime.now(timezone.utc)
    entry = {
        "docket": uuid.uuid4().hex,
        "collection": request.collection,
        "reason": request.reason,
        "placed_at": now.isoformat(),
        "ends_in": now.year + request.years,
    }
    kv.set(entry_name(context.external_key), json.dumps(entry))
    return placed(context.external_key, entry)


@place.reconcile
def find(request: Request, key):
    stored = kv.get(entry_name(key))
    return "did_not_happen" if stored is None else happened(placed(key, json.loads(stored)))


@place.verify
def check(change):
    stored = kv.get(entry_name(change.resource_id))
    if stored is None:
        return "the embargo is missing"
    docket = json.loads(stored)["docket"]
    return True if docket == change.version else f"the embargo has the docket {docket}"


@place.compensate
def lift(request: Request, result: Docket, key):
    stored = kv.get(entry_name(key))
    if stored is None or json.loads(stored)["docket"] != result.docket:
        raise Failure("POLICY_DENIED", "the embargo was lifted or replaced since")
    if not kv.delete(entry_name(key)):
        raise Failure("POLICY_DENIED", "the embargo was lifted since")
    return Output(None, changes=[Change("embargo", key, "delete")])
