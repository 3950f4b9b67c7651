"""Registers permits for watching pheasants in a reserve, from the opening of the season on."""

import json
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Failure, happened, kv, log, tool

AREAS = ("heath", "marsh", "wood")


@dataclass
class Request:
    watcher: str
    area: str
    opens: str


@dataclass
class Permit:
    permit: str
    area: str


def entry(key):
    return f"permit/{key}"


def answer(request, key):
    return Permit(key, request.area)


@tool("Permit.Register", output=Permit, effects=["internal_write"])
def register(request: Request, context):
    """Registers a permit. A call before the opening of the season waits for it."""
    if request.area not in AREAS or not request.watcher.strip():
        raise Failure("INVALID_INPUT", f"a permit is for a person and for one of {', '.join(AREAS)}")
    opening = moment(request.opens)
    now = datetime.now(timezone.utc)
    if now < opening:
        # The host calls again at the opening.
        wait = int((opening - now).total_seconds() * 1000) + 1
        log.info("the season opens in %d hours", wait // 3_600_000)
        raise Failure("RATE_LIMIT", f"the season opens on {request.opens}", retry_after_ms=wait)
    made = {"watcher": request.watcher, "area": request.area, "registered": now.isoformat(timespec="seconds")}
    kv.set(entry(context.external_key), json.dumps(made))
    return answer(request, context.external_key)


@register.reconcile
def find(request: Request, key):
    """Looks for the permit under its key."""
    return "did_not_happen" if kv.get(entry(key)) is None else happened(answer(request, key))


def moment(day):
    """Returns the beginning of a day such as `2026-04-01`, in UTC."""
    try:
        return datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=timezone.utc)
    except ValueError:
        raise Failure("INVALID_INPUT", f"{day} is no day such as 2026-04-01") from None
