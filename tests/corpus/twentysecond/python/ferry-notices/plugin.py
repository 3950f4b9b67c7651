from dataclasses import dataclass

from latchwork import Failure, log, step, tools

TRIES = 3

NOTICE = {
    "type": "object",
    "properties": {
        "line": {"type": "string", "minLength": 1, "maxLength": 40},
        "date": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"},
        "departures": {
            "type": "array",
            "minItems": 1,
            "maxItems": 48,
            "items": {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"},
        },
        "reason": {"type": "string", "maxLength": 200},
        "harbours": {
            "type": "array",
            "minItems": 1,
            "maxItems": 60,
            "items": {"type": "string", "minLength": 1, "maxLength": 40},
        },
    },
    "required": ["line", "date", "departures", "harbours"],
    "additionalProperties": False,
}


@dataclass
class Posted:
    posted: list[str]
    missed: list[str]
    departures: list[str]
    swell_cm: int


def swell(line):
    """Returns the height of the waves on the line in centimetres. Asks a fixed number of times, then the other office."""
    for number in range(1, TRIES + 1):
        try:
            answer = tools.call("Sea.Swell", {"line": line})
            break
        except Failure as failure:
            log.warn("question %d about the swell: %s", number, failure.message)
    else:
        answer = tools.call("Coast.Swell", {"line": line})
    height = answer.get("cm") if isinstance(answer, dict) else None
    if type(height) is not int or not 0 <= height <= 5000:
        raise Failure("DEPENDENCY_UNAVAILABLE", f"the swell on {line} is not readable")
    return height


@step("Ferry.Notify", input=NOTICE, effects=["external_send"], determinism="external")
def notify(notice, context) -> Posted:
    """Posts the cancelled departures of a ferry line to the screens of its harbours."""
    # Two entries of one harbour would have one action key. They ask for the same notice, so one is enough.
    harbours = sorted(set(notice["harbours"]))
    departures = sorted(set(notice["departures"]))
    height = swell(notice["line"])

    reason = notice.get("reason", "").strip() or "weather"
    text = f"{notice['line']}: {', '.join(departures)} cancelled, {reason}"
    calls = [
        (
            "Screen.Post",
            {"harbour": harbour, "date": notice["date"], "text": text},
            # A second notice of the day has other departures or another reason, and is a message of its own.
            repr(("ferry notice", harbour, notice["date"], text)),
        )
        for harbour in harbours
    ]
    posted, missed = [], []
    for harbour, answer in zip(harbours, tools.call_all(calls)):
        if isinstance(answer, Failure):
            log.warn("%s: %s", harbour, answer.code)
            missed.append(harbour)
        else:
            posted.append(harbour)
    return Posted(posted, missed, departures, height)
