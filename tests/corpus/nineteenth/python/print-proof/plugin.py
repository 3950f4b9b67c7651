"""Fetches the proof of a print order, and checks it against the order."""

from dataclasses import dataclass

from latchwork import Failure, log, step, tools

# Sheets of the press have this number of pages.
SHEET = 4

MINUTE_MS = 60_000


@dataclass
class Order:
    number: str
    pages: int
    colors: int


@dataclass
class Proof:
    number: str
    url: str
    sheets: int
    remarks: list[str]


@step("Proof.Fetch", determinism="external")
def fetch(order: Order, context) -> Proof:
    """Returns the proof of an order once the press has rendered it."""
    if order.pages < 1 or order.colors not in (1, 2, 4):
        raise Failure("INVALID_INPUT", f"{order.number} has {order.pages} pages and {order.colors} colors")
    answer = tools.call("Press.Status", {"order": order.number})
    state = answer.get("state")
    if state in ("queued", "rendering"):
        # The press takes a few minutes. The next try comes after one minute.
        raise Failure("TEMPORARY_PROVIDER_ERROR", f"the proof of {order.number} is {state}", retry_after_ms=MINUTE_MS)
    if state == "refused":
        raise Failure("POLICY_DENIED", f"the press refused {order.number}: {answer.get('reason', 'no reason given')}")
    if state != "ready":
        raise Failure("DEPENDENCY_UNAVAILABLE", f"the press does not know the state of {order.number}")
    log.info("the proof of %s is ready", order.number)
    return Proof(order.number, str(answer.get("url", "")), -(-order.pages // SHEET), remarks(order, answer))


def remarks(order, answer):
    """Compares the proof with the order."""
    found = []
    if answer.get("pages") != order.pages:
        found.append(f"the proof has {answer.get('pages', 'no')} pages, and the order {order.pages}")
    if answer.get("colors") != order.colors:
        found.append(f"the proof has {answer.get('colors', 'no')} colors, and the order {order.colors}")
    if order.pages % SHEET:
        found.append(f"the last sheet has {SHEET - order.pages % SHEET} blank pages")
    return found
