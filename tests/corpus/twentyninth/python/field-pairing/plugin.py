"""Pairs the teams of a tournament by lot, and hands out the fields."""

import random
import uuid
from datetime import datetime, timedelta, timezone

from latchwork import Failure, events, log, step

TEAM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 60},
        "club": {"type": "string", "minLength": 1, "maxLength": 60},
    },
    "required": ["name", "club"],
    "additionalProperties": False,
}
INPUT = {
    "type": "object",
    "properties": {
        "tournament": {"type": "string", "minLength": 1, "maxLength": 80},
        "teams": {"type": "array", "items": TEAM, "minItems": 2, "maxItems": 128},
        "fields": {"type": "integer", "minimum": 1, "maximum": 20},
        "minutes": {"type": "integer", "minimum": 5, "maximum": 120},
    },
    "required": ["tournament", "teams", "fields", "minutes"],
    "additionalProperties": False,
}


def same_club(pairs):
    return sum(one["club"] == other["club"] for one, other in pairs)


def pair(teams):
    """Draws up to twenty times, until no two teams of one club meet. The draw with the fewest such pairs counts."""
    best = None
    for _ in range(20):
        drawn = random.sample(teams, len(teams))
        pairs = list(zip(drawn[::2], drawn[1::2]))
        if best is None or same_club(pairs) < same_club(best[0]):
            best = pairs, drawn[-1] if len(drawn) % 2 else None
        if same_club(best[0]) == 0:
            break
    return best


# `stable`: clock and random numbers of the job, and no tool.
@step("Pairing.Draw", input=INPUT, determinism="stable")
def draw(request, context):
    """Draws the first round of a tournament."""
    teams = request["teams"]
    names = {team["name"] for team in teams}
    if len(names) != len(teams):
        # A set has no order that a failure could show.
        twice = sorted(name for name in names if sum(team["name"] == name for team in teams) > 1)
        raise Failure("INVALID_INPUT", f"named twice: {', '.join(twice)}", detail={"twice": twice})

    pairs, bye = pair(teams)
    # The first match starts at the next full quarter of an hour, at least five minutes from now.
    earliest = datetime.now(timezone.utc) + timedelta(minutes=5)
    midnight = earliest.replace(hour=0, minute=0, second=0, microsecond=0)
    quarter = timedelta(minutes=15)
    start = midnight + quarter * -((midnight - earliest) // quarter)
    matches = []
    for number, (home, guest) in enumerate(pairs):
        at = start + timedelta(minutes=request["minutes"] * (number // request["fields"]))
        matches.append({"home": home["name"], "guest": guest["name"], "field": number % request["fields"] + 1, "at": at.strftime("%Y-%m-%d %H:%M")})

    draw_id = str(uuid.uuid4())
    clubs = sorted({team["club"] for team in teams})
    events.emit("pairing-drawn", {"draw": draw_id, "matches": len(matches), "clubs": clubs})
    log.info("%d matches of %s, drawn for %s", len(matches), request["tournament"], context.actor)
    return {"draw": draw_id, "matches": matches, "bye": bye and bye["name"], "clubs": clubs}
