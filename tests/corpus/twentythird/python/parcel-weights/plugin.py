import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool

PARCEL = {
    "type": "object",
    "properties": {
        "barcode": {"type": "string", "pattern": "^[A-Z0-9]{8,20}$"},
        "grams": {"type": "integer", "minimum": 1, "maximum": 31500},
        "longest_mm": {"type": "integer", "minimum": 10, "maximum": 3000},
    },
    "required": ["barcode", "grams", "longest_mm"],
    "additionalProperties": False,
}
INPUT = {
    "type": "object",
    "properties": {
        "scale": {"type": "string", "pattern": "^S[0-9]{1,3}$"},
        "parcels": {"type": "array", "items": PARCEL, "minItems": 1, "maxItems": 300},
    },
    "required": ["scale", "parcels"],
    "additionalProperties": False,
}

# Milliseconds after which a scale sends its list again if the store had no time for it.
AGAIN = 1500


@dataclass
class Weighed:
    list: str
    parcels: int
    grams: int
    bulky: int


def entry_of(key):
    return f"weights:{key}"


def summary(key, text):
    """Answer of the call that stored this list."""
    rows = json.loads(text)["rows"]
    bulky = sum(1 for _, _, longest in rows if longest > 1200)
    return Output(
        Weighed(key, len(rows), sum(grams for _, grams, _ in rows), bulky),
        changes=[Change("weights", entry_of(key), "create", version=text)],
    )


def store(entry, text):
    """Writes an entry. A scale sends its list again soon if the store is busy."""
    try:
        kv.set(entry, text)
    except Failure as failure:
        if failure.code == "DEPENDENCY_UNAVAILABLE":
            raise Failure("TRANSIENT_DB_LOCK", f"the store is busy: {failure.message}", retry_after_ms=AGAIN) from failure
        raise


@tool("Parcel.Weigh", input=INPUT, output=Weighed, effects=["internal_write"])
def weigh(order: dict, context):
    """Stores the weights of the parcels that went over a scale."""
    codes = [parcel["barcode"] for parcel in order["parcels"]]
    if len(set(codes)) < len(codes):
        raise Failure("INVALID_INPUT", f"scale {order['scale']} weighed a parcel twice in one list")

    rows = [[parcel["barcode"], parcel["grams"], parcel["longest_mm"]] for parcel in order["parcels"]]
    text = json.dumps({"scale": order["scale"], "rows": rows}, separators=(",", ":"))
    key = context.external_key
    store(entry_of(key), text)
    return summary(key, text)


@weigh.reconcile
def find(order: dict, key):
    text = kv.get(entry_of(key))
    return "did_not_happen" if text is None else happened(summary(key, text.decode()))


@tool("Parcel.List", input={"type": "object", "properties": {"list": {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}}, "required": ["list"], "additionalProperties": False})
def listing(query: dict, context):
    """Shows a stored list of weights."""
    text = kv.get(entry_of(query["list"]))
    if text is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no list {query['list']}")
    return json.loads(text)
