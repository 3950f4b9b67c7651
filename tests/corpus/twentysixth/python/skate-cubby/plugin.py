import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Pair:
    owner: str
    size: int


@dataclass
class Ticket:
    ticket: str


@tool("Skates.Deposit", effects=["internal_write"], idempotent_by_key_seconds=2 * 86400)
def deposit(pair: Pair, context):
    """Takes a pair of skates into a cubby of the rink and gives a ticket for it."""
    if not 24 <= pair.size <= 50:
        raise Failure("INVALID_INPUT", f"there are no skates of size {pair.size}")
    key = context.external_key
    entry = json.dumps({"owner": pair.owner, "size": pair.size}, ensure_ascii=False)
    kv.set(f"cubby/{key}", entry)
    return Output({"ticket": key}, receipt={"ticket": key}, changes=[Change("cubby", key, "create", version=entry)])


@tool("Skates.Collect", effects=["internal_write"])
def collect(args: Ticket, context):
    """Hands the skates of a ticket back to their owner."""
    entry = kv.get(f"cubby/{args.ticket}")
    if entry is None or not kv.delete(f"cubby/{args.ticket}"):
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there are no skates for the ticket {args.ticket}")
    pair = json.loads(entry)
    return Output({"owner": pair["owner"], "size": pair["size"]}, changes=[Change("cubby", args.ticket, "delete")])
