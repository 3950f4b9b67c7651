import json

from latchwork import Change, Failure, Output, happened, kv, log, tool

INPUT = {
    "type": "object",
    "properties": {
        "well": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{1,4}$"},
        "day": {"type": "string", "pattern": "^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"},
        "level_mm": {"type": "integer", "minimum": -200000, "maximum": 50000},
        "nitrate_ug": {"type": "integer", "minimum": 0, "maximum": 2000000},
        "reader": {"type": "string", "minLength": 1, "maxLength": 80},
    },
    "required": ["well", "day", "level_mm", "reader"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "reading": {"type": "string"},
        "well": {"type": "string"},
        "alarm": {"type": "boolean"},
    },
    "required": ["reading", "well", "alarm"],
    "additionalProperties": False,
}

# Micrograms of nitrate in a litre above which the water must not be drunk.
NITRATE_LIMIT = 50_000


def entry_of(key):
    return f"reading/{key}"


def text_of(reading):
    """Text of the entry of a reading."""
    kept = {name: reading.get(name) for name in ("well", "day", "level_mm", "nitrate_ug", "reader")}
    return json.dumps(kept, ensure_ascii=False, sort_keys=True)


def recorded(key, text):
    """Answer of the call that wrote this reading."""
    reading = json.loads(text)
    alarm = (reading["nitrate_ug"] or 0) > NITRATE_LIMIT
    return Output(
        {"reading": key, "well": reading["well"], "alarm": alarm},
        receipt={"reading": key},
        changes=[Change("reading", entry_of(key), "create", version=text)],
    )


@tool("Reading.Record", input=INPUT, output=OUTPUT, effects=["internal_write"])
def record(reading: dict, context):
    """Records the level of a well, and its nitrate if it was measured."""
    if reading["level_mm"] > 0 and "nitrate_ug" in reading:
        raise Failure("INVALID_INPUT", f"well {reading['well']} was flooded: a sample of nitrate has no meaning")
    key = context.external_key
    text = text_of(reading)
    kv.set(entry_of(key), text)
    return recorded(key, text)


@record.reconcile
def find(reading: dict, key):
    text = kv.get(entry_of(key))
    return "did_not_happen" if text is None else happened(recorded(key, text.decode()))


def stored(entry):
    """Text of an entry of the map, or None."""
    try:
        text = kv.get(entry)
    except Failure as failure:
        log.warn("%s: %s", entry, failure.message)
        return None
    return None if text is None else text.decode()


@record.verify
def check(change):
    text = stored(change.resource_id)
    if text is None:
        return "the reading is not in the log of the wells"
    return True if text == change.version else f"the reading has another text: {text}"
