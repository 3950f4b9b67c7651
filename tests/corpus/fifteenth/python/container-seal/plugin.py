import json
import random
from dataclasses import dataclass
from typing import Literal

from latchwork import Change, Failure, Output, kv, tool

# Values of the letters in the number of a container, by the rule of the owner codes. Multiples of 11 are left out.
VALUES = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", [v for v in range(10, 39) if v % 11]))


@dataclass
class Closing:
    container: str
    door: Literal["left", "right", "both"]
    inspector: str


@dataclass
class Seal:
    container: str
    seal: str
    record: str


def is_container(number):
    """Checks the form and the check digit of a container number, such as CSQU3054383."""
    if len(number) != 11 or not all(c in VALUES for c in number[:4]) or not all(c in "0123456789" for c in number[4:]):
        return False
    total = sum((VALUES[c] if c in VALUES else int(c)) * 2**place for place, c in enumerate(number[:10]))
    return total % 11 % 10 == int(number[10])


# The seal is filed under the key of its call. A second try of the call writes the same entry.
@tool("Container.Seal", output=Seal, effects=["internal_write"], idempotent_by_key_seconds=86400)
def seal(closing: Closing, context):
    """Assigns a seal to the closed doors of a container and files it."""
    number = closing.container.replace(" ", "").upper()
    if not is_container(number):
        raise Failure("INVALID_INPUT", f"{number[:20]} is not the number of a container")
    if not 1 <= len(closing.inspector.strip()) <= 100:
        raise Failure("INVALID_INPUT", "the name of the inspector is empty or too long")
    # Seals must not be predictable, so that forged ones are noticed.
    code = f"{closing.door[0].upper()}{random.SystemRandom().randrange(10**8):08d}"
    key = context.external_key
    entry = {"container": number, "door": closing.door, "inspector": closing.inspector.strip(), "seal": code}
    kv.set(f"seal/{key}", json.dumps(entry))
    return Output(
        Seal(number, code, key),
        receipt={"seal": code},
        changes=[Change("container-seal", key, "create", version=code)],
    )
