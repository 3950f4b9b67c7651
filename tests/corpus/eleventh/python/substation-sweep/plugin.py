"""Reads the load of all substations of a feeder."""

from collections import deque
from dataclasses import dataclass

from latchwork import Failure, log, step, tools

AWAY = ("DEPENDENCY_UNAVAILABLE", "NETWORK_TIMEOUT", "TEMPORARY_PROVIDER_ERROR")


@dataclass
class Feeder:
    name: str
    substations: list[str]


@dataclass
class Load:
    feeder: str
    total_kw: int
    loads: dict[str, int]


@step("Feeder.Sweep", determinism="external")
def sweep(feeder: Feeder, context) -> Load:
    """Sums up the present load of a feeder."""
    if not 1 <= len(feeder.substations) <= 60:
        raise Failure("INVALID_INPUT", "a feeder has 1 to 60 substations")
    pending = deque(dict.fromkeys(feeder.substations))
    loads = {}
    while pending:
        substation = pending.popleft()
        try:
            answer = tools.call("Substation.Read", {"id": substation})
        except Failure as failure:
            if failure.code not in AWAY:
                raise
            # Modems drop out for a moment. Read the others first and come back.
            log.warn("%s does not answer: %s", substation, failure.message)
            pending.append(substation)
            continue
        kw = answer.get("kw") if isinstance(answer, dict) else None
        if type(kw) is not int or not 0 <= kw <= 100_000:
            raise Failure("SCHEMA_VALIDATION_FAILED", f"{substation} sent no load")
        loads[substation] = kw
    ordered = {name: loads[name] for name in sorted(loads)}
    return Load(feeder.name, sum(ordered.values()), ordered)
