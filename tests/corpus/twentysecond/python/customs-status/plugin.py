from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, log, step, tools

# The customs office answers with these codes while its system restarts, which happens every night.
BUSY = {"RATE_LIMIT", "TEMPORARY_PROVIDER_ERROR", "NETWORK_TIMEOUT"}

CONSIGNMENT = {
    "type": "object",
    "properties": {
        "reference": {"type": "string", "pattern": "^[0-9]{2}[A-Z]{2}[A-Z0-9]{14}$"},
        "goods": {"type": "array", "maxItems": 99, "items": {"type": "string", "pattern": "^[0-9]{8}$"}},
        "value_cents": {"type": "integer", "minimum": 0, "maximum": 10_000_000_000},
    },
    "required": ["reference", "goods", "value_cents"],
    "additionalProperties": False,
}


@dataclass
class Clearance:
    reference: str
    status: str
    duty_cents: int
    inspect: list[str]
    note: Optional[str] = None


def asked(operator, args):
    """Returns the answer of the customs office."""
    while True:
        try:
            return tools.call(operator, args)
        except Failure as failure:
            if failure.code not in BUSY:
                raise
            log.warn("%s: %s, asking again", operator, failure.message)


@step("Customs.Clear", input=CONSIGNMENT, determinism="external")
def clear(consignment, context) -> Clearance:
    """Finds the state of a consignment at the customs office, and the duty for its goods."""
    reference = consignment["reference"]
    state = asked("Customs.State", {"reference": reference})
    if not isinstance(state, dict) or state.get("status") not in ("open", "released", "held"):
        raise Failure("DEPENDENCY_UNAVAILABLE", f"{reference}: the answer of the customs office is not readable")
    if state["status"] == "released":
        return Clearance(reference, "released", 0, [])

    inspect, rate = [], 0
    # Each kind of goods once, in the order of the declaration.
    for code in dict.fromkeys(consignment["goods"]):
        tariff = asked("Customs.Tariff", {"code": code})
        percent = tariff.get("percent") if isinstance(tariff, dict) else None
        if type(percent) is not int or not 0 <= percent <= 100:
            raise Failure("DEPENDENCY_UNAVAILABLE", f"{code}: the tariff is not readable")
        rate = max(rate, percent)
        if tariff.get("inspection") is True:
            inspect.append(code)

    duty = consignment["value_cents"] * rate // 100
    note = "documents are missing" if state["status"] == "held" else None
    return Clearance(reference, state["status"], duty, inspect, note)
