import json
from dataclasses import dataclass

from latchwork import Failure, log, step, tools

SAMPLE = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^P[0-9]{1,6}$"},
        # The sample from which this one was taken. Without it, it was taken from a patient.
        "taken_from": {"type": "string", "pattern": "^P[0-9]{1,6}$"},
        "test": {"enum": ["blood-count", "culture", "virus", "none"]},
    },
    "required": ["id", "test"],
    "additionalProperties": False,
}
INPUT = {
    "type": "object",
    "properties": {
        "round": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}/[a-z]{1,12}$"},
        "samples": {"type": "array", "items": SAMPLE, "minItems": 1, "maxItems": 120},
    },
    "required": ["round", "samples"],
    "additionalProperties": False,
}

# The host has made its retries before a call fails. One more call, later in the round, is all that is useful.
ROUNDS = 2
# Codes of calls that changed nothing and may succeed later.
PASSING = {"RATE_LIMIT", "TRANSIENT_DB_LOCK"}


@dataclass
class Routed:
    sample: str
    origin: str
    bench: str


@dataclass
class Round:
    round: str
    routed: list[Routed]
    left: dict[str, str]


def origins(samples):
    """The sample of the patient for each sample. A chain may be as long as the list, so no function calls itself."""
    parents = {}
    for sample in samples:
        if sample["id"] in parents:
            raise Failure("INVALID_INPUT", f"sample {sample['id']} is listed twice")
        parents[sample["id"]] = sample.get("taken_from")
    found = {}
    for name in parents:
        chain, passed, at = [], set(), name
        while at not in found and parents.get(at) is not None:
            if at in passed:
                raise Failure("INVALID_INPUT", f"sample {at} was taken from itself")
            passed.add(at)
            chain.append(at)
            at = parents[at]
        origin = found.get(at, at)
        for one in chain:
            found[one] = origin
        found[name] = origin
    return found


def reserve(order, round_name, origin):
    """Reserves a bench for a sample. The key has everything that distinguishes the reservation from others."""
    key = json.dumps(["bench", round_name, order["id"], order["test"]])
    arguments = {"round": round_name, "sample": order["id"], "test": order["test"], "origin": origin}
    answer = tools.call("Bench.Reserve", arguments, action_key=key)
    bench = answer.get("bench") if isinstance(answer, dict) else None
    if not isinstance(bench, str) or bench == "":
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the answer for {order['id']} names no bench")
    return Routed(order["id"], origin, bench)


@step("Sample.Route", input=INPUT, effects=["external_write"], determinism="external")
def route(order: dict, context) -> Round:
    """Reserves a bench of the laboratory for each sample of a round."""
    found = origins(order["samples"])
    waiting = [sample for sample in order["samples"] if sample["test"] != "none"]
    routed, left = [], {}
    for turn in range(ROUNDS):
        again = []
        for sample in waiting:
            try:
                routed.append(reserve(sample, order["round"], found[sample["id"]]))
                left.pop(sample["id"], None)
            except Failure as failure:
                log.warn("turn %d, %s: %s", turn + 1, sample["id"], failure.message)
                left[sample["id"]] = failure.code
                if failure.code in PASSING:
                    again.append(sample)
        waiting = again
    return Round(order["round"], sorted(routed, key=lambda one: one.sample), left)
