"""Writes the daily board of a harbor from several gauges."""

import random
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Optional

from latchwork import Failure, events, log, step, tools

ROUNDS = 3


@dataclass
class Harbor:
    name: str
    gauges: list[str]


@dataclass
class Board:
    harbor: str
    written: str
    level_cm: Optional[int]
    missing: list[str]
    ticket: str
    posted: bool


def levels(gauges):
    """Reads all gauges; those that fail are read again in the next round."""
    found, open_gauges = {}, sorted(set(gauges))
    for _ in range(ROUNDS):
        if not open_gauges:
            break
        answers = tools.call_all([("Gauge.Read", {"gauge": gauge}) for gauge in open_gauges])
        for gauge, answer in zip(open_gauges, answers):
            level = None if isinstance(answer, Failure) or not isinstance(answer, dict) else answer.get("cm")
            if isinstance(level, (int, float)) and not isinstance(level, bool) and abs(level) < 100_000:
                found[gauge] = level
        open_gauges = [gauge for gauge in open_gauges if gauge not in found]
    return found, open_gauges


@step("Harbor.Write", determinism="external", effects=["internal_write"])
def write(harbor: Harbor, context) -> Board:
    """Reads the gauges of a harbor and posts its board."""
    began = time.monotonic()
    found, missing = levels(harbor.gauges)
    level = round(sum(found[gauge] for gauge in sorted(found)) / len(found)) if found else None
    ticket = f"{random.getrandbits(32):08x}"
    written = datetime.now(timezone.utc).isoformat(timespec="seconds")
    posted = True
    try:
        tools.call(
            "Board.Post",
            {"harbor": harbor.name, "level_cm": level, "written": written, "ticket": ticket},
            action_key=f"{context.job_id}:{context.step_id}:board",
        )
    except Failure as failure:
        log.warn("the board of %s was not posted: %s", harbor.name, failure.code)
        posted = False
    events.emit("board-written", {"ticket": ticket, "missing": len(missing)})
    log.debug("took %.3f s", time.monotonic() - began)
    return Board(harbor.name, written, level, missing, ticket, posted)
