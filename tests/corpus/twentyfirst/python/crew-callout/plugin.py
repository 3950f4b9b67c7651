import json

from latchwork import Failure, log, step, tools

# A pager that is busy or offline answers with one of these codes.
PASSING = ("NETWORK_TIMEOUT", "RATE_LIMIT", "TEMPORARY_PROVIDER_ERROR", "DEPENDENCY_UNAVAILABLE")

TEXT = {"type": "string", "minLength": 1, "maxLength": 80}
INPUT = {
    "type": "object",
    "properties": {
        "incident": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}-[0-9]{1,6}$"},
        "place": TEXT,
        "needed": {"type": "integer", "minimum": 1, "maximum": 12},
        "crew": {"type": "array", "items": TEXT, "minItems": 1, "maxItems": 40},
    },
    "required": ["incident", "place", "needed", "crew"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "paged": {"type": "array", "items": {"type": "string"}},
        "absent": {"type": "array", "items": {"type": "string"}},
        "complete": {"type": "boolean"},
    },
    "required": ["paged", "absent", "complete"],
    "additionalProperties": False,
}


def page(incident, place, member):
    """Pages a member. Returns whether the member has accepted."""
    key = json.dumps(["callout", incident, member])
    args = {"member": member, "text": f"{incident}: come to {place}"}
    while True:
        try:
            return tools.call("Pager.Page", args, action_key=key).get("accepted") is True
        except Failure as failure:
            if failure.code not in PASSING:
                raise
            log.warn("%s is not reached: %s", member, failure.message)


@step("Crew.Callout", input=INPUT, output=OUTPUT, effects=["external_send"], determinism="external")
def callout(job, context):
    """Pages the members of a rescue crew one after the other, until enough of them have accepted."""
    if len(set(job["crew"])) < len(job["crew"]):
        raise Failure("INVALID_INPUT", "a member of the crew is listed twice")
    if job["needed"] > len(job["crew"]):
        raise Failure("INVALID_INPUT", f"the crew has fewer than {job['needed']} members")
    paged, absent = [], []
    for member in job["crew"]:
        if len(paged) == job["needed"]:
            break
        if page(job["incident"], job["place"], member):
            paged.append(member)
        else:
            absent.append(member)
    return {"paged": paged, "absent": absent, "complete": len(paged) == job["needed"]}
