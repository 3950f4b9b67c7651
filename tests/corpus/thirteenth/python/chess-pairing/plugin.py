"""Lays out the two score sheets of a chess pairing, one for each side of the board."""

import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Pairing:
    round: int
    board: int
    white: str
    black: str
    minutes: int = 90


@dataclass
class Sheets:
    white_sheet: str
    black_sheet: str


def check(pairing):
    if not 1 <= pairing.round <= 30 or not 1 <= pairing.board <= 2_000:
        raise Failure("INVALID_INPUT", "rounds are 1 to 30, and boards 1 to 2,000")
    if not 1 <= pairing.minutes <= 600:
        raise Failure("INVALID_INPUT", f"{pairing.minutes} minutes are no time control")
    for name in (pairing.white, pairing.black):
        if not name.strip() or len(name) > 100:
            raise Failure("INVALID_INPUT", "a player needs a name of at most 100 characters")
    if pairing.white.strip() == pairing.black.strip():
        raise Failure("INVALID_INPUT", f"{pairing.white.strip()} cannot be paired with the same player")


def sheets(pairing, key):
    """Returns the entries of a pairing: white's sheet, then black's."""
    white, black = pairing.white.strip(), pairing.black.strip()
    common = {"round": pairing.round, "board": pairing.board, "minutes": pairing.minutes}
    return {
        f"white/{key}": json.dumps({**common, "player": white, "against": black}).encode(),
        f"black/{key}": json.dumps({**common, "player": black, "against": white}).encode(),
    }


# Both entries have the external key in their names, so a repetition writes the same sheets again.
@tool("Chess.Pair", output=Sheets, effects=["internal_write"], idempotent_by_key_seconds=7 * 86_400)
def pair(pairing: Pairing, context):
    """Lays out the sheets of a pairing."""
    check(pairing)
    entries = sheets(pairing, context.external_key)
    for name, text in entries.items():
        kv.set(name, text)
    changes = [Change("sheet", name, "create") for name in entries]
    return Output(Sheets(*entries), receipt={"round": pairing.round, "board": pairing.board}, changes=changes)


@pair.compensate
def tear_up(pairing: Pairing, result, key):
    entries = sheets(pairing, key)
    for name, text in entries.items():
        if kv.get(name) != text:
            raise Failure("POLICY_DENIED", f"the sheet {name} was changed or collected")
        kv.delete(name)
    return Output(None, changes=[Change("sheet", name, "delete") for name in entries])
