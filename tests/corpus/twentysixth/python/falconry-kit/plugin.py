import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool

LEND = {
    "type": "object",
    "properties": {
        "falconer": {"type": "string", "minLength": 1, "maxLength": 80},
        "pieces": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 60}, "minItems": 1, "maxItems": 40},
    },
    "required": ["falconer", "pieces"],
    "additionalProperties": False,
}


def place(kit, number):
    return f"kit/{kit}/{number}"


def slip(falconer, piece):
    return json.dumps({"falconer": falconer, "piece": piece}, ensure_ascii=False)


@tool("Kit.Lend", effects=["internal_write"], input=LEND)
def lend(args, context):
    """Lends hoods, bells and gloves to a falconer, one slip for each piece."""
    kit = context.external_key
    changes = []
    for number, piece in enumerate(args["pieces"], 1):
        kv.set(place(kit, number), slip(args["falconer"], piece))
        changes.append(Change("piece", f"{kit}/{number}", "create", version=piece))
    return Output({"kit": kit, "pieces": len(changes)}, changes=changes)


@lend.compensate
def take_back(args, result, key):
    changes = []
    for number, piece in enumerate(args["pieces"], 1):
        if kv.get(place(key, number)) != slip(args["falconer"], piece).encode():
            raise Failure("POLICY_DENIED", f"{piece} was returned or changed")
        if not kv.delete(place(key, number)):
            raise Failure("POLICY_DENIED", f"{piece} was returned")
        changes.append(Change("piece", f"{key}/{number}", "delete"))
    return Output(None, changes=changes)


@dataclass
class Piece:
    kit: str
    number: int


@tool("Kit.Return", effects=["internal_write"])
def give_back(piece: Piece, context):
    """Takes one piece of a kit back."""
    if not kv.delete(place(piece.kit, piece.number)):
        raise Failure("MISSING_REQUIRED_CONTEXT", f"{piece.kit} has no piece {piece.number}")
    return Output({"returned": piece.number}, changes=[Change("piece", f"{piece.kit}/{piece.number}", "delete")])
