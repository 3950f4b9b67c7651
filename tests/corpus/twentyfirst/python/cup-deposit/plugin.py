import json

from latchwork import Change, Failure, Output, kv, tool

DAY = 86_400
CENTS = {"cup": 100, "bowl": 200, "tray": 500}

CARD = {"type": "string", "pattern": "^[0-9]{8}$"}
RETURN = {
    "type": "object",
    "properties": {
        "card": CARD,
        "pieces": {
            "type": "object",
            "properties": {kind: {"type": "integer", "minimum": 0, "maximum": 100} for kind in CENTS},
            "additionalProperties": False,
        },
    },
    "required": ["card", "pieces"],
    "additionalProperties": False,
}
CREDITED = {
    "type": "object",
    "properties": {"credited": {"type": "integer"}, "balance": {"type": "integer"}},
    "required": ["credited", "balance"],
    "additionalProperties": False,
}


def balance_of(card):
    text = kv.get(f"balance:{card}")
    return 0 if text is None else int(text)


def credited(key, card, cents, balance):
    return Output(
        {"credited": cents, "balance": balance},
        receipt={"return": key},
        changes=[Change("return", key, "create", version=f"{card}/{cents}")],
    )


@tool("Deposit.Return", input=RETURN, output=CREDITED, effects=["internal_write"], idempotent_by_key_seconds=DAY)
def give_back(args, context):
    """Credits the deposit of returned dishes to the card of a guest, once for each return."""
    card, key = args["card"], context.external_key
    done = kv.get(f"return:{key}")
    if done is not None:
        entry = json.loads(done)
        return credited(key, card, entry["cents"], entry["balance"])
    cents = sum(CENTS[kind] * count for kind, count in args["pieces"].items())
    if cents == 0:
        raise Failure("INVALID_INPUT", "no dishes are returned")
    balance = balance_of(card) + cents
    kv.set(f"balance:{card}", str(balance))
    kv.set(f"return:{key}", json.dumps({"card": card, "cents": cents, "balance": balance}))
    return credited(key, card, cents, balance)


@tool("Deposit.Balance", input={"type": "object", "properties": {"card": CARD}, "required": ["card"],
                                "additionalProperties": False}, effects=["read_only"])
def balance(args, context):
    """Shows the balance of a card."""
    cents = balance_of(args["card"])
    return {"balance": cents, "text": f"{cents // 100}.{cents % 100:02d}"}
