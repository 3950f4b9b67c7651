"""Electronic signs above a motorway. Each sign is one entry of the map; the gantry polls the entries."""

import json

from latchwork import Change, Failure, Output, kv, tool

SIGN = {"type": "string", "pattern": "^[A-Z][0-9]{1,4}$"}
MESSAGE = {
    "type": "object",
    "properties": {"sign": SIGN, "text": {"type": "string", "minLength": 1, "maxLength": 80}},
    "required": ["sign", "text"],
    "additionalProperties": False,
}
DARK = {
    "type": "object",
    "properties": {"sign": SIGN, "reason": {"enum": ["repair", "night", "storm"]}},
    "required": ["sign", "reason"],
    "additionalProperties": False,
}
NAMED = {"type": "object", "properties": {"sign": SIGN}, "required": ["sign"], "additionalProperties": False}


def name_of(sign):
    return f"sign/{sign}"


def state(sign):
    """Text of the entry of a sign, or None."""
    found = kv.get(name_of(sign))
    return None if found is None else found.decode()


@tool("Sign.Show", input=MESSAGE, effects=["internal_write"])
def show(message, context):
    """Shows a text on a sign."""
    if not message["text"].strip():
        raise Failure("INVALID_INPUT", "a sign without a text has to be turned off")
    entry = json.dumps({"lit": True, "text": message["text"]})
    kv.set(name_of(message["sign"]), entry)
    return Output({"sign": message["sign"], "lit": True}, changes=[Change("sign", message["sign"], "show", version=entry)])


@show.verify
def check_shown(change):
    found = state(change.resource_id)
    return True if found == change.version else f"the sign has the state {found}"


@tool("Sign.TurnOff", input=DARK, effects=["internal_write"])
def turn_off(order, context):
    """Turns a sign off."""
    entry = json.dumps({"lit": False, "text": order["reason"]})
    kv.set(name_of(order["sign"]), entry)
    return Output({"sign": order["sign"], "lit": False}, changes=[Change("sign-power", order["sign"], "turn-off", version=entry)])


@turn_off.verify
def check_dark(change):
    found = state(change.resource_id)
    return True if found == change.version else f"the sign has the state {found}"


@tool("Sign.Read", input=NAMED)
def read(wish, context):
    """Reads the state of a sign."""
    found = state(wish["sign"])
    if found is None:
        raise Failure("INVALID_INPUT", f"sign {wish['sign']} was never used")
    return json.loads(found)
