import json
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, kv, tool

BID = {
    "type": "object",
    "properties": {
        "tender": {"type": "string", "pattern": "^T[0-9]{4}-[0-9]{1,5}$"},
        "bidder": {"type": "string", "minLength": 1, "maxLength": 120},
        "cents": {"type": "integer", "minimum": 1, "maximum": 1_000_000_000_000},
        "closes": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"},
        "note": {"type": "string", "maxLength": 2000},
    },
    "required": ["tender", "bidder", "cents", "closes"],
    "additionalProperties": False,
}

LODGED = {
    "type": "object",
    "properties": {"bid": {"type": "string"}, "lodged_at": {"type": "string"}},
    "required": ["bid", "lodged_at"],
    "additionalProperties": False,
}


def closing_time(text):
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        raise Failure("INVALID_INPUT", f"{text} is no time") from None


def stored(bid):
    raw = kv.get(f"bid/{bid}")
    return None if raw is None else json.loads(raw)


# A bid has the external key of its call as name. A second try finds it there and keeps its time.
@tool("Tender.Bid", input=BID, output=LODGED, effects=["internal_write"], idempotent_by_key_seconds=86_400)
def lodge(args, context):
    """Lodges a sealed bid for a public tender before the tender closes."""
    now = datetime.now(timezone.utc)
    if now >= closing_time(args["closes"]):
        raise Failure("POLICY_DENIED", f"tender {args['tender']} closed at {args['closes']}")

    bid = context.external_key
    entry = stored(bid)
    if entry is None:
        entry = {
            "tender": args["tender"],
            "bidder": args["bidder"],
            "cents": args["cents"],
            "note": args.get("note", ""),
            "lodged_at": now.isoformat(timespec="seconds"),
        }
        kv.set(f"bid/{bid}", json.dumps(entry))
    lodged_at = entry["lodged_at"]
    return Output(
        {"bid": bid, "lodged_at": lodged_at},
        receipt={"bid": bid, "tender": args["tender"], "lodged_at": lodged_at},
        changes=[Change("bid", bid, "create", version=lodged_at)],
    )


@lodge.verify
def check(change):
    entry = stored(change.resource_id)
    if entry is None:
        return "the bid is missing"
    return True if entry["lodged_at"] == change.version else f"the bid was lodged at {entry['lodged_at']}"
