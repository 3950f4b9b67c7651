import logging

from latchwork import Change, Failure, Output, kv, tool

SCHEMA = {
    "type": "object",
    "required": ["person", "course"],
    "properties": {"person": {"type": "string", "minLength": 1}, "course": {"type": "string", "minLength": 1}},
}


@tool("Attendance.Mark", effects=["internal_write"], input=SCHEMA)
def mark(args: dict, context) -> dict[str, str]:
    """Marks a person as present in a course."""
    entry = f"{args['course']}: {args['person']}"
    if len(entry) > 1000:
        raise Failure("INVALID_INPUT", "person and course are too long")
    for attempt in range(2):
        try:
            kv.set(context.external_key, entry)
            break
        except Failure as failure:
            logging.warning("attempt %d: %s", attempt + 1, failure)
    return Output({"marked": entry}, changes=[Change("attendance", context.external_key, "create", version=entry)])


@mark.verify
def check(change):
    found = kv.get(change.resource_id)
    if found is None:
        return "the mark is missing"
    return True if found.decode() == change.version else "another person or course is marked"
