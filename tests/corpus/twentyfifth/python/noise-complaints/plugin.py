import json
from datetime import datetime, timezone

from latchwork import Failure, Output, happened, kv, tool

INPUT = {
    "type": "object",
    "properties": {
        "street": {"type": "string", "minLength": 1, "maxLength": 80},
        "source": {"enum": ["music", "works", "traffic", "other"]},
        "text": {"type": "string", "maxLength": 4000},
    },
    "required": ["street", "source", "text"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "complaint": {"type": "string"},
        "desk": {"type": "string"},
        "status": {"enum": ["received", "on file"]},
    },
    "required": ["complaint", "desk", "status"],
    "additionalProperties": False,
}
SHOWN = {
    "type": "object",
    "properties": {"status": {"enum": ["unknown", "on file"]}, "street": {"type": "string"}},
    "required": ["status", "street"],
}
DESKS = {"music": "public order", "works": "building control", "traffic": "roads"}


def answer(key, source, status):
    result = {"complaint": key, "desk": DESKS.get(source, "front desk"), "status": status}
    return Output(result, receipt={"complaint": key})


def find(key):
    stored = kv.get(f"complaint/{key}")
    return None if stored is None else json.loads(stored)


@tool("Complaint.Receive", input=INPUT, output=OUTPUT, effects=["internal_write"])
def receive(args: dict, context):
    """Receives a complaint about noise and gives it to a desk."""
    if args["source"] == "other" and not args["text"].strip():
        raise Failure("INVALID_INPUT", "a complaint about another source needs a text")
    key = context.external_key
    entry = {**args, "at": datetime.now(timezone.utc).isoformat()}
    kv.set(f"complaint/{key}", json.dumps(entry, ensure_ascii=False))
    return answer(key, args["source"], "received")


@receive.reconcile
def was_received(args: dict, key):
    entry = find(key)
    if entry is None:
        return "did_not_happen"
    return happened(answer(key, entry["source"], "on file"))


@tool(
    "Complaint.Show",
    input={
        "type": "object",
        "properties": {"complaint": {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}},
        "required": ["complaint"],
        "additionalProperties": False,
    },
    output=SHOWN,
)
def show(args: dict, context):
    """Shows the state of a complaint."""
    entry = find(args["complaint"])
    if entry is None:
        return {"status": "unknown", "street": ""}
    return {"status": "on file", "street": entry["street"]}
