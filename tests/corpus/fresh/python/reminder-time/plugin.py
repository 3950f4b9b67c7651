import random
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from latchwork import Failure, log, step


@dataclass
class Request:
    days: int


@dataclass
class Reminder:
    at: str
    token: str


# Every job has another time and another token, so the operator is not pure.
@step("Reminder.Plan", determinism="stable")
def plan(request: Request, context) -> Reminder:
    """Chooses a time in the morning for a reminder."""
    if not 0 <= request.days <= 365:
        raise Failure("INVALID_INPUT", "days: 0 to 365")
    today = datetime.now(timezone.utc).replace(hour=8, minute=0, second=0, microsecond=0)
    # Spread over two hours, so that not all mails leave in the same minute.
    at = today + timedelta(days=request.days, minutes=random.randrange(120))
    log.info("a reminder of %s at %s", context.actor, at)
    return Reminder(at.isoformat(), secrets.token_hex(8))
