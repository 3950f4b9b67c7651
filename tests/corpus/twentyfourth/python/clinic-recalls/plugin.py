"""Sends the letters by which a clinic asks patients to a check-up."""

import json
import uuid
from datetime import date, timedelta

from latchwork import Failure, log, step, tools

PATIENT = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "minLength": 1, "maxLength": 40},
        "check": {"enum": ["eyes", "heart", "teeth"]},
    },
    "required": ["id", "check"],
    "additionalProperties": False,
}
INPUT = {
    "type": "object",
    "properties": {
        "clinic": {"type": "string", "minLength": 1, "maxLength": 40},
        "patients": {"type": "array", "items": PATIENT, "maxItems": 200},
    },
    "required": ["clinic", "patients"],
    "additionalProperties": False,
}
SENT = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "check": {"type": "string"}, "letter": {"type": "string"}},
    "required": ["id", "check", "letter"],
    "additionalProperties": False,
}
UNSENT = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "check": {"type": "string"}, "code": {"type": "string"}},
    "required": ["id", "check", "code"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "batch": {"type": "string"},
        "day": {"type": "string"},
        "sent": {"type": "array", "items": SENT},
        "unsent": {"type": "array", "items": UNSENT},
    },
    "required": ["batch", "day", "sent", "unsent"],
    "additionalProperties": False,
}
BUSY = ("RATE_LIMIT", "TEMPORARY_PROVIDER_ERROR")
ROUNDS = 2


@step("Recall.Send", input=INPUT, output=OUTPUT, effects=["external_send"], determinism="external")
def send(recall, context):
    """Sends one letter for each patient and check-up."""
    wanted = [(patient["id"], patient["check"]) for patient in recall["patients"]]
    if len(set(wanted)) != len(wanted):
        raise Failure("INVALID_INPUT", "a patient is listed twice for one check-up")
    today = date.today()
    day, until = today.isoformat(), (today + timedelta(days=60)).isoformat()

    def letter(patient, check):
        text = {"clinic": recall["clinic"], "patient": patient, "check": check, "until": until}
        return "Letter.Send", text, json.dumps(["recall", recall["clinic"], patient, check, day])

    letters, codes = {}, {}
    waiting = wanted
    for _ in range(ROUNDS):
        answers = tools.call_all([letter(*one) for one in waiting])
        again = []
        for one, answer in zip(waiting, answers):
            if isinstance(answer, Failure):
                codes[one] = answer.code
                if answer.code in BUSY:
                    again.append(one)
            elif isinstance(answer, dict) and isinstance(answer.get("letter"), str):
                letters[one] = answer["letter"]
            else:
                raise Failure("SCHEMA_VALIDATION_FAILED", f"the post office named no letter for patient {one[0]}")
        waiting = again
    batch = str(uuid.uuid4())
    log.info("batch %s for %s: %d of %d letters", batch, context.actor, len(letters), len(wanted))
    return {
        "batch": batch,
        "day": day,
        "sent": [{"id": one[0], "check": one[1], "letter": letters[one]} for one in wanted if one in letters],
        "unsent": [{"id": one[0], "check": one[1], "code": codes[one]} for one in wanted if one not in letters],
    }
