import json
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, tool

ENTRY = {
    "type": "object",
    "properties": {
        "ship": {"type": "string", "minLength": 1, "maxLength": 80},
        "watch": {"enum": ["first", "middle", "morning", "forenoon", "afternoon", "dog"]},
        "text": {"type": "string", "minLength": 1, "maxLength": 12000},
    },
    "required": ["ship", "watch", "text"],
    "additionalProperties": False,
}


def written(key, slip):
    return Output(
        {"entry": key, "words": slip["words"], "written_at": slip["written_at"]},
        changes=[Change("entry", key, "create", version=slip["written_at"])],
    )


@tool("Diary.Write", effects=["internal_write"], input=ENTRY)
def write(entry, context):
    """Writes an entry of a watch into the diary of a lightship."""
    words = len(entry["text"].split())
    if words == 0:
        raise Failure("INVALID_INPUT", "the entry has no words")
    key = context.external_key
    slip = {"words": words, "written_at": datetime.now(timezone.utc).isoformat(timespec="seconds")}
    kv.set(f"page/{key}", json.dumps(entry, ensure_ascii=False))
    kv.set(f"slip/{key}", json.dumps(slip))
    return written(key, slip)


@write.reconcile
def find(entry, key):
    slip = kv.get(f"slip/{key}")
    if slip is None:
        return "did_not_happen"
    return happened(written(key, json.loads(slip)))


@tool("Diary.Read", input={"type": "object", "properties": {"entry": {"type": "string", "minLength": 1, "maxLength": 160}}, "required": ["entry"]})
def read(args, context):
    """Reads an entry of the diary."""
    page = kv.get(f"page/{args['entry']}")
    if page is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no entry {args['entry']}")
    return json.loads(page)
