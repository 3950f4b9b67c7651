import json
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, tool

FILE = {
    "type": "object",
    "properties": {
        "policy": {"type": "string", "pattern": "^H[0-9]{6}$"},
        "crop": {"type": "string", "minLength": 1, "maxLength": 60},
        "ares": {"type": "integer", "minimum": 1, "maximum": 100000},
        "report": {"type": "string", "maxLength": 5000},
    },
    "required": ["policy", "crop", "ares", "report"],
    "additionalProperties": False,
}
FILED = {
    "type": "object",
    "properties": {"claim": {"type": "string"}, "filed_at": {"type": "string"}},
    "required": ["claim", "filed_at"],
    "additionalProperties": False,
}
ONE_CLAIM = {
    "type": "object",
    "properties": {"claim": {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}},
    "required": ["claim"],
    "additionalProperties": False,
}
STATE = {
    "type": "object",
    "properties": {"state": {"enum": ["unknown", "open", "withdrawn"]}, "policy": {"type": "string"}},
    "required": ["state", "policy"],
}


def find(key):
    stored = kv.get(f"claim/{key}")
    return None if stored is None else json.loads(stored)


def is_withdrawn(key):
    return kv.get(f"withdrawn/{key}") is not None


def filed(key, claim):
    change = Change("claim", key, "create", version=claim["filed_at"])
    return Output({"claim": key, "filed_at": claim["filed_at"]}, receipt={"claim": key, "policy": claim["policy"]}, changes=[change])


@tool("Claim.File", input=FILE, output=FILED, effects=["internal_write"], idempotent_by_key_seconds=2 * 86400)
def file(args: dict, context):
    """Files a claim for damage by hail, with the time at which it came in."""
    key = context.external_key
    claim = find(key)
    if claim is None:
        if not args["report"].strip():
            raise Failure("INVALID_INPUT", "the report of the damage is empty")
        claim = {**args, "filed_at": datetime.now(timezone.utc).isoformat()}
        kv.set(f"claim/{key}", json.dumps(claim, ensure_ascii=False))
    return filed(key, claim)


@file.reconcile
def was_filed(args: dict, key):
    claim = find(key)
    return "did_not_happen" if claim is None else happened(filed(key, claim))


@file.verify
def is_filed(change):
    claim = find(change.resource_id)
    if claim is None:
        return "the claim is missing"
    if claim["filed_at"] != change.version:
        return f"the claim was filed at {claim['filed_at']}"
    return "the claim was withdrawn" if is_withdrawn(change.resource_id) else True


@file.compensate
def take_back(args: dict, result, key):
    claim = find(key)
    if claim is None:
        raise Failure("POLICY_DENIED", "the claim is missing", applied="no")
    if claim["filed_at"] != result["filed_at"]:
        raise Failure("POLICY_DENIED", "the claim was filed anew", applied="no")
    if is_withdrawn(key):
        raise Failure("POLICY_DENIED", "the claim was withdrawn by the farmer", applied="no")
    if not kv.delete(f"claim/{key}"):
        raise Failure("POLICY_DENIED", "the claim is missing", applied="no")
    return Output(None, changes=[Change("claim", key, "delete")])


# A withdrawn claim stays in the register. The mark beside it is the same for each call that sets it, and is never removed.
@tool("Claim.Withdraw", input=ONE_CLAIM, output=STATE, effects=["internal_write"], idempotent_by_key_seconds=2 * 86400)
def withdraw(args: dict, context):
    """Marks a claim as withdrawn by the farmer."""
    key = args["claim"]
    claim = find(key)
    if claim is None:
        raise Failure("POLICY_DENIED", "there is no such claim")
    kv.set(f"withdrawn/{key}", "yes")
    return Output({"state": "withdrawn", "policy": claim["policy"]}, changes=[Change("claim", key, "withdraw")])


@withdraw.verify
def is_marked(change):
    return True if is_withdrawn(change.resource_id) else "the claim is not withdrawn"


@tool("Claim.Show", input=ONE_CLAIM, output=STATE)
def show(args: dict, context):
    """Shows the state of a claim."""
    claim = find(args["claim"])
    if claim is None:
        return {"state": "unknown", "policy": ""}
    return {"state": "withdrawn" if is_withdrawn(args["claim"]) else "open", "policy": claim["policy"]}
