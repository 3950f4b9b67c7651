from dataclasses import dataclass

from latchwork import Change, Failure, Output, config, kv, tool


@dataclass
class Request:
    account: str
    day: str
    units: int


@dataclass
class Granted:
    left: int


@tool("Quota.Take", output=Granted, effects=["internal_write"])
def take(request: Request, context):
    """Takes units of the quota that an account has for a day."""
    if request.units < 1:
        raise Failure("INVALID_INPUT", "units: at least 1")
    limit = config.get("units_per_day", 100)
    key = f"quota:{request.account}:{request.day}"
    used = int(kv.get(key) or b"0") + request.units
    # Taken first, so that another call sees the new value as early as possible.
    kv.set(key, str(used))
    if used > limit:
        raise Failure("RATE_LIMIT", f"{request.account} has used {used} of {limit} units", retry_after_ms=60_000)
    return Output(Granted(limit - used), changes=[Change("quota", key, "update", version=str(used))])
