from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, log, tool


@dataclass
class Wish:
    order: str
    window: str


@dataclass
class Noted:
    note: str


@tool("DeliveryWindow.Note", effects=["internal_write"])
def note(wish: Wish, context) -> Noted:
    """Notes in which hours a customer wants a delivery."""
    if not wish.order or not wish.window or len(wish.order) + len(wish.window) > 500:
        raise Failure("INVALID_INPUT", "order and window are required, with at most 500 characters")
    text = f"{wish.order} {wish.window}"
    kv.set(context.external_key, text)
    return Output(Noted(text), changes=[Change("window", context.external_key, "create", version=text)])


@note.compensate
def withdraw(wish: Wish, result, key):
    entry = kv.get(key)
    if entry is None:
        log.info("the wish for %s is not there any more, nothing to withdraw", wish.order)
        return Output(None)
    if entry.decode() != f"{wish.order} {wish.window}":
        raise Failure("POLICY_DENIED", f"the wish for {wish.order} was changed")
    kv.delete(key)
    return Output(None, changes=[Change("window", key, "delete")])
