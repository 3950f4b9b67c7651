import json
from datetime import date

from latchwork import Failure, log, step, tools

WAYS = ("Push.Send", "Sms.Send")
ROUNDS = 2
PASSING = ("RATE_LIMIT", "TRANSIENT_DB_LOCK")

TEXT = {"type": "string", "minLength": 1, "maxLength": 80}
INPUT = {
    "type": "object",
    "properties": {
        "patient": {"type": "string", "pattern": "^P[0-9]{1,9}$"},
        "day": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"},
        "doses": {
            "type": "array",
            "minItems": 1,
            "maxItems": 24,
            "items": {
                "type": "object",
                "properties": {
                    "hour": {"type": "integer", "minimum": 0, "maximum": 23},
                    "medicine": TEXT,
                    "amount": TEXT,
                },
                "required": ["hour", "medicine", "amount"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["patient", "day", "doses"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "sent": {"type": "array", "items": {"type": "string"}},
        "failed": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["sent", "failed"],
    "additionalProperties": False,
}


def remind(patient, day, dose):
    """Sends one reminder, by the first way that works. The key has the whole day and the dose."""
    key = json.dumps(["dose", patient, day, dose["hour"], dose["medicine"]])
    args = {"patient": patient, "hour": dose["hour"], "text": f"{dose['medicine']}: {dose['amount']}"}
    for _ in range(ROUNDS):
        for way in WAYS:
            try:
                tools.call(way, args, action_key=key)
                return way
            except Failure as failure:
                # A send with an unknown end may have arrived: no second reminder for one dose.
                if failure.applied != "no" or failure.code not in PASSING:
                    raise
                log.warn("%s: %s", way, failure.message)
    return None


@step("Doses.Remind", input=INPUT, output=OUTPUT, effects=["external_send"], determinism="external")
def remind_all(plan, context):
    """Reminds a patient of the doses of a day."""
    try:
        date.fromisoformat(plan["day"])
    except ValueError:
        raise Failure("INVALID_INPUT", f"{plan['day']} is no day of the calendar") from None
    doses = sorted(plan["doses"], key=lambda dose: (dose["hour"], dose["medicine"]))
    # Two doses with one key would be one reminder.
    for one, next_one in zip(doses, doses[1:]):
        if (one["hour"], one["medicine"]) == (next_one["hour"], next_one["medicine"]):
            raise Failure("INVALID_INPUT", f"{one['medicine']} is listed twice at {one['hour']} h")
    sent, failed = [], []
    for dose in doses:
        way = remind(plan["patient"], plan["day"], dose)
        (failed if way is None else sent).append(f"{dose['hour']} h {dose['medicine']}")
    return {"sent": sent, "failed": failed}
