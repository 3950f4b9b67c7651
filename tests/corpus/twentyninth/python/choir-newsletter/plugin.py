"""The weekly newsletter of a choir. Several people may start the plan in a week, and the members get one letter."""

import json
from datetime import datetime, timezone

from latchwork import Failure, log, step, tools

ADDRESS = {"type": "string", "minLength": 3, "maxLength": 200, "pattern": "^[^@\\s]+@[^@\\s]+$"}
INPUT = {
    "type": "object",
    "properties": {
        "choir": {"type": "string", "minLength": 1, "maxLength": 80},
        "rehearsal": {"enum": ["monday", "tuesday", "wednesday", "thursday", "friday"]},
        "pieces": {"type": "array", "items": {"type": "string", "maxLength": 120}, "maxItems": 30},
        "members": {"type": "array", "items": ADDRESS, "minItems": 1, "maxItems": 300},
    },
    "required": ["choir", "rehearsal", "pieces", "members"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "week": {"type": "string"},
        "sent": {"type": "integer"},
        "unreached": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["week", "sent", "unreached"],
    "additionalProperties": False,
}


def text_of(request):
    lines = [f"{request['choir']} rehearses on {request['rehearsal'].capitalize()} at 19:30."]
    if request["pieces"]:
        lines += ["", "Please bring:"] + [f"- {piece}" for piece in request["pieces"]]
    else:
        lines += ["", "We sing from the blue folder."]
    return "\n".join(lines)


@step("Newsletter.Send", input=INPUT, output=OUTPUT, effects=["external_send"], determinism="external")
def send(request, context):
    """Sends the newsletter of this week to the members of a choir."""
    members = [member.lower() for member in request["members"]]
    if len(set(members)) != len(members):
        raise Failure("INVALID_INPUT", "an address is on the list twice")

    # Weeks begin on Monday, and a week is named with its year: the first week of a year comes again.
    week = datetime.now(timezone.utc).strftime("%Y-W%V")
    text = text_of(request)
    calls = []
    for member in members:
        args = {"to": member, "subject": f"{request['choir']}: this week", "text": text}
        calls.append(("Mail.Send", args, json.dumps(["newsletter", request["choir"], week, member])))

    unreached = []
    for member, answer in zip(members, tools.call_all(calls)):
        if isinstance(answer, Failure):
            log.warn("%s: %s", member, answer.code)
            unreached.append(member)
    return {"week": week, "sent": len(members) - len(unreached), "unreached": unreached}
