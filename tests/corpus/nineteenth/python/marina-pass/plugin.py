"""Issues passes for the gate of a marina."""

import json
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Failure, kv, tool

BERTH = {"type": "string", "pattern": "^[A-F][0-9]{1,3}$"}
TEXT = {"type": "string", "minLength": 1, "maxLength": 80}


def only(**properties):
    """Returns the schema of an object with these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@dataclass
class Pass:
    code: str
    berth: str


@tool(
    "Pass.Issue",
    input=only(boat=TEXT, berth=BERTH, nights={"type": "integer", "minimum": 1, "maximum": 60}),
    output=Pass,
    effects=["internal_write"],
)
def issue(guest, context):
    """Issues a pass with a code that opens the gate."""
    if not guest["boat"].strip():
        raise Failure("INVALID_INPUT", f"the boat at {guest['berth']} has no name")
    code = uuid.uuid4().hex
    issued = datetime.now(timezone.utc).isoformat(timespec="seconds")
    try:
        kv.set(f"pass/{code}", json.dumps({**guest, "issued": issued}))
    except Failure as failure:
        # The map has a pause. The office gets the pass a little later.
        raise Failure("RATE_LIMIT", f"the list of passes is busy: {failure.message}", retry_after_ms=2000) from failure
    return Pass(code, guest["berth"])


@tool(
    "Pass.Check",
    input=only(code={"type": "string", "pattern": "^[0-9a-f]{32}$"}),
    output=only(boat={"type": "string"}, berth=BERTH, nights={"type": "integer"}, issued={"type": "string"}),
    effects=["read_only"],
)
def check(shown, context):
    """Returns the pass of a code, for the guard at the gate."""
    kept = kv.get(f"pass/{shown['code']}")
    if kept is None:
        raise Failure("AUTH_FORBIDDEN", "the gate has no pass with this code")
    return json.loads(kept)
