from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Guest:
    name: str
    table: int


@dataclass
class Entered:
    guest: str
    name: str
    table: int


def entered(key, name, table):
    return Output(Entered(key, name, table), changes=[Change("guest", key, "create")])


@tool("Guest.Enter", output=Entered, effects=["internal_write"])
def enter(guest: Guest, context):
    """Enters a guest into the list of a dinner."""
    name = " ".join(word.capitalize() for word in guest.name.split())
    if not name:
        raise Failure("INVALID_INPUT", "the guest has no name")
    if not 1 <= guest.table <= 40:
        raise Failure("INVALID_INPUT", f"there is no table {guest.table}")
    kv.set(context.external_key, f"{guest.table} {name}")
    return entered(context.external_key, name, guest.table)


# Called after a crash: finds out whether the guest was entered.
@enter.reconcile
def find(guest: Guest, key):
    if kv.get(key) is None:
        return "did_not_happen"
    return happened(entered(key, guest.name, guest.table))
