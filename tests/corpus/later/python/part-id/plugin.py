import uuid
from dataclasses import dataclass

from latchwork import Failure, log, tool

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "parts.example.org")
CHECK = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ"


@dataclass
class Part:
    maker: str
    number: str


@dataclass
class Identity:
    id: str
    short: str
    check: str


def tidy(text):
    return "".join(char for char in text.upper() if char.isalnum())


# A name-based UUID follows from its name: equal parts have equal ids on every machine.
@tool("Part.Identify", determinism="pure")
def identify(part: Part, context) -> Identity:
    """Computes the id of a part from its maker and number."""
    maker, number = tidy(part.maker), tidy(part.number)
    if not maker or not number:
        raise Failure("INVALID_INPUT", "a part needs a maker and a number")
    made = uuid.uuid5(NAMESPACE, f"{maker}/{number}")
    total = sum((at + 1) * byte for at, byte in enumerate(made.bytes))
    log.debug("%s %s", maker, number)
    return Identity(str(made), made.hex[:8], CHECK[total % len(CHECK)])
