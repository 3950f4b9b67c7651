from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Permit:
    number: str
    office: str


@dataclass
class Stamped:
    number: str
    stamp: str


@tool("Permit.Stamp", effects=["internal_write"], idempotent_by_key_seconds=172_800)
def stamp(permit: Permit, context) -> Stamped:
    """Stamps a permit."""
    if not permit.number or len(permit.number + permit.office) > 500:
        raise Failure("INVALID_INPUT", "the permit needs a number")
    text = f"{permit.office}/{permit.number}"
    if kv.get(context.external_key) is not None:
        return Stamped(permit.number, text)
    kv.set(context.external_key, text)
    return Output(Stamped(permit.number, text), changes=[Change("stamp", context.external_key, "create", version=text)])


@stamp.verify
def check(change):
    found = kv.get(change.resource_id)
    if found is None:
        return "there is no stamp"
    return True if found.decode() == change.version else "the stamp is of another permit"
