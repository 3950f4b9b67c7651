import random
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Optional

from latchwork import Failure, config, kv, log, tool

DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


@dataclass
class Ask:
    shop: str


@dataclass
class Hours:
    shop: str
    day: str
    hours: str
    hint: Optional[str]


@tool("Hours.Today", effects=["read_only"], determinism="external")
def today(ask: Ask, context) -> Hours:
    """Tells when a shop is open today."""
    log.debug("%s, attempt %d after %d tries", context.slot, context.attempt, context.tries_before)
    if not ask.shop or len(ask.shop) > 60:
        raise Failure("INVALID_INPUT", "shop is missing or too long")
    day = DAYS[datetime.now(timezone.utc).weekday()]
    for name in (f"{ask.shop}/{day}", f"{ask.shop}/*"):
        hours = kv.get(name)
        if hours is not None:
            break
    else:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"no hours of {ask.shop}")
    hints = config.get("hints", [])
    return Hours(ask.shop, day, hours.decode(errors="replace"), random.choice(hints) if hints else None)
