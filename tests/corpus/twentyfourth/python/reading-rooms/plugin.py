"""Seats a group of readers in one of the reading rooms of an archive."""

from latchwork import Failure, step, tools

INPUT = {
    "type": "object",
    "properties": {
        "group": {"type": "string", "minLength": 1, "maxLength": 80},
        "day": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"},
        "readers": {"type": "integer", "minimum": 1, "maximum": 200},
    },
    "required": ["group", "day", "readers"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "room": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "spare": {"type": "integer"},
        "waiting": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["room", "spare", "waiting"],
    "additionalProperties": False,
}


@step("Room.Suggest", input=INPUT, output=OUTPUT, determinism="external")
def suggest(wish, context):
    """Suggests the smallest free room that has a seat for each reader."""
    readers = int(wish["readers"])
    answer = tools.call("Room.ListFree", {"day": wish["day"]})
    rooms = answer.get("rooms") if isinstance(answer, dict) else None
    if not isinstance(rooms, list):
        raise Failure("SCHEMA_VALIDATION_FAILED", "the archive sent no list of rooms")
    fitting = [(room["seats"], room["name"]) for room in rooms if room["seats"] >= readers]
    if fitting:
        seats, name = min(fitting)
        return {"room": name, "spare": seats - readers, "waiting": None}
    # The archive calls a group on the list as soon as a room of its size is free.
    place = tools.call("Room.JoinList", {"day": wish["day"], "group": wish["group"], "readers": readers})
    return {"room": None, "spare": 0, "waiting": place["position"]}
