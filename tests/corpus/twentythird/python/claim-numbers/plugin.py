import json
import secrets
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, tool

INPUT = {
    "type": "object",
    "properties": {
        "policy": {"type": "string", "pattern": "^[A-Z]{2}[0-9]{6,10}$"},
        "kind": {"enum": ["water", "fire", "storm", "theft", "other"]},
        "summary": {"type": "string", "minLength": 1, "maxLength": 2000},
        "cents": {"type": "integer", "minimum": 0, "maximum": 1_000_000_000},
    },
    "required": ["policy", "kind", "summary"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {"claim": {"type": "string"}, "number": {"type": "string"}, "opened_at": {"type": "string"}},
    "required": ["claim", "number", "opened_at"],
    "additionalProperties": False,
}


def entry_of(key):
    return f"claim:{key}"


def text_of(claim, number, opened_at, withdrawn=False):
    """Text of the entry of a claim."""
    saved = {"claim": claim, "number": number, "opened_at": opened_at, "withdrawn": withdrawn}
    return json.dumps(saved, ensure_ascii=False, sort_keys=True)


def stored(key):
    """Text of the entry of a claim, or None. An entry that cannot be read raises."""
    value = kv.get(entry_of(key))
    return None if value is None else value.decode()


def opened(key, text):
    """Answer of the call that opened this claim. All of it comes from the entry."""
    saved = json.loads(text)
    return Output(
        {"claim": key, "number": saved["number"], "opened_at": saved["opened_at"]},
        receipt={"number": saved["number"]},
        changes=[Change("claim", entry_of(key), "create", version=text)],
    )


@tool("Claim.Open", input=INPUT, output=OUTPUT, effects=["internal_write"], idempotent_by_key_seconds=3 * 24 * 3600)
def open_claim(claim: dict, context):
    """Opens a claim of an insurance and gives it a number that cannot be guessed."""
    if not claim["summary"].strip():
        raise Failure("INVALID_INPUT", "the summary is empty")
    key = context.external_key
    # The number and the time of the first try stay, also if this try is a repetition.
    text = stored(key)
    if text is None:
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        text = text_of(claim, f"{claim['policy']}-{secrets.token_hex(6)}", now)
        kv.set(entry_of(key), text)
    return opened(key, text)


@open_claim.reconcile
def find(claim: dict, key):
    text = stored(key)
    if text is None:
        return "did_not_happen"
    return "unknown" if json.loads(text)["withdrawn"] else happened(opened(key, text))


@open_claim.verify
def check(change):
    value = kv.get(change.resource_id)
    if value is None:
        return "the claim is missing"
    return True if value.decode() == change.version else "the claim was changed or withdrawn"


# The entry stays and is marked, so that the number is known to be withdrawn.
@open_claim.compensate
def withdraw(claim: dict, result, key):
    text = stored(key)
    if text != text_of(claim, result["number"], result["opened_at"]):
        raise Failure("POLICY_DENIED", f"claim {result['number']} is missing, or was changed since")
    gone = text_of(claim, result["number"], result["opened_at"], withdrawn=True)
    kv.set(entry_of(key), gone)
    return Output(None, changes=[Change("claim", entry_of(key), "withdraw", version=gone)])


@tool("Claim.Look", input={"type": "object", "properties": {"claim": {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}}, "required": ["claim"], "additionalProperties": False})
def look(query: dict, context):
    """Shows a claim, also one that was withdrawn."""
    text = stored(query["claim"])
    if text is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no claim {query['claim']}")
    return json.loads(text)
