import json
from datetime import date, datetime, timezone

from latchwork import Change, Failure, Output, kv, tool

THREE_DAYS = 3 * 86_400

DAY = {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"}
REDEEM = {
    "type": "object",
    "properties": {
        "coupon": {"type": "string", "pattern": "^[A-Z0-9]{6,12}$"},
        "customer": {"type": "string", "minLength": 1, "maxLength": 80},
        "cents": {"type": "integer", "minimum": 1, "maximum": 50_000},
        "valid_until": DAY,
    },
    "required": ["coupon", "customer", "cents", "valid_until"],
    "additionalProperties": False,
}
REDEEMED = {
    "type": "object",
    "properties": {"redemption": {"type": "string"}, "cents": {"type": "integer"}, "on": {"type": "string"}},
    "required": ["redemption", "cents", "on"],
    "additionalProperties": False,
}
KEY = {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}


def entry_of(key):
    return f"redemption:{key}"


def read(key):
    text = kv.get(entry_of(key))
    return None if text is None else json.loads(text)


def redeemed(key, entry):
    return Output(
        {"redemption": key, "cents": entry["cents"], "on": entry["on"]},
        receipt={"redemption": key},
        changes=[Change("redemption", key, "create", version=entry["on"])],
    )


def last_day(text):
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Failure("INVALID_INPUT", f"{text} is no day of the calendar") from None


@tool("Coupon.Redeem", input=REDEEM, output=REDEEMED, effects=["internal_write"],
      idempotent_by_key_seconds=THREE_DAYS)
def redeem(args, context):
    """Books the redemption of a coupon that is still valid."""
    today = datetime.now(timezone.utc).date()
    if last_day(args["valid_until"]) < today:
        raise Failure("POLICY_DENIED", f"the coupon was valid until {args['valid_until']}")
    # A repetition keeps the day of the first try.
    entry = read(context.external_key)
    if entry is None:
        entry = {
            "coupon": args["coupon"],
            "customer": args["customer"],
            "cents": args["cents"],
            "on": today.isoformat(),
        }
        kv.set(entry_of(context.external_key), json.dumps(entry))
    return redeemed(context.external_key, entry)


@redeem.compensate
def take_back(args, result, key):
    entry = read(key)
    if entry is None or entry["coupon"] != args["coupon"]:
        raise Failure("POLICY_DENIED", "the redemption was changed or removed")
    if not kv.delete(entry_of(key)):
        raise Failure("POLICY_DENIED", "the redemption was removed")
    return Output(None, changes=[Change("redemption", key, "delete")])


@tool("Coupon.Show", input={"type": "object", "properties": {"redemption": KEY}, "required": ["redemption"],
                            "additionalProperties": False}, effects=["read_only"])
def show(args, context):
    """Shows a booked redemption."""
    entry = read(args["redemption"])
    return {"found": False} if entry is None else {"found": True, **entry}
