"""Records rentals of skates at an ice rink."""

import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool

RESULT = {
    "type": "object",
    "properties": {"rental": {"type": "string"}, "pairs": {"type": "integer"}, "deposit": {"type": "integer"}},
    "required": ["rental", "pairs", "deposit"],
    "additionalProperties": False,
}


@dataclass
class Rental:
    guest: str
    sizes: list[int]


def stored(rental):
    return {"guest": rental.guest, "sizes": sorted(rental.sizes)}


def summary(entry):
    return f"{entry['guest']}: {', '.join(str(size) for size in entry['sizes'])}"


def load(rental_id):
    """Returns a rental, or None if there is no usable entry."""
    try:
        return json.loads(kv.get(f"rental/{rental_id}"))
    except (Failure, TypeError, ValueError):
        return None


@tool("Skates.Rent", effects=["internal_write"], idempotent_by_key_seconds=7 * 86400, output=RESULT)
def rent(rental: Rental, context):
    """Hands out skates to a guest."""
    if not rental.sizes:
        raise Failure("INVALID_INPUT", "a rental has at least one pair")
    wrong = [size for size in rental.sizes if not 24 <= size <= 50]
    if wrong:
        raise Failure("INVALID_INPUT", f"no skates in size {wrong[0]}")
    entry = stored(rental)
    text = json.dumps(entry, sort_keys=True)
    if len(text) > 60_000:
        raise Failure("INVALID_INPUT", "the rental is too large")
    kv.set(f"rental/{context.external_key}", text)
    return Output(
        {"rental": context.external_key, "pairs": len(entry["sizes"]), "deposit": 20 * len(entry["sizes"])},
        changes=[Change("rental", context.external_key, "create", version=summary(entry))],
    )


@rent.verify
def check(change):
    entry = load(change.resource_id)
    if entry is None:
        return "the rental is missing"
    if not isinstance(entry, dict) or not {"guest", "sizes"} <= set(entry):
        return "the rental has another form"
    found = summary(entry)
    return True if found == change.version else f"the rental is now {found}"
