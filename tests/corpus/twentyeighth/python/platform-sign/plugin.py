"""Signs at the platforms of a station. A sign can be blank: then it has an entry without text. A platform without a sign
has no entry."""

import base64
import hashlib
from dataclasses import dataclass
from typing import Optional

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Sign:
    platform: str
    text: str


@dataclass
class Platform:
    platform: str


@dataclass
class Done:
    platform: str
    # The bytes that were there, in base64; null if there was no sign. The undo needs every byte.
    before: Optional[str]


def entry(platform):
    return f"sign/{platform}"


def digest(content):
    return hashlib.sha256(content).hexdigest()


def packed(content):
    return None if content is None else base64.b64encode(content).decode()


def change(platform, content, operation):
    return Change("sign", platform, operation, version=None if content is None else digest(content))


@tool("Sign.Show", output=Done, effects=["internal_write"])
def show(sign: Sign, context):
    """Shows a text at a platform. An empty text makes the sign blank."""
    if len(sign.platform.encode()) > 100:
        raise Failure("INVALID_INPUT", "there is no such platform")
    content = sign.text.encode()
    before = kv.get(entry(sign.platform))
    kv.set(entry(sign.platform), content)
    return Output(Done(sign.platform, packed(before)), changes=[change(sign.platform, content, "set")])


@tool("Sign.Remove", output=Done, effects=["internal_write"])
def remove(platform: Platform, context):
    """Removes the sign of a platform."""
    before = kv.get(entry(platform.platform))
    if before is None or not kv.delete(entry(platform.platform)):
        raise Failure("INVALID_INPUT", "the platform has no sign", applied="no")
    return Output(Done(platform.platform, packed(before)), changes=[change(platform.platform, None, "delete")])


@show.verify
@remove.verify
def check(recorded):
    found = kv.get(entry(recorded.resource_id))
    # A removed sign was recorded without a version, and is found as nothing.
    now = None if found is None else digest(found)
    if now == recorded.version:
        return True
    return "the platform has no sign" if found is None else "the platform has another sign"


@show.compensate
def take_back(sign: Sign, done: Done, key):
    if kv.get(entry(sign.platform)) != sign.text.encode():
        raise Failure("POLICY_DENIED", "the sign was changed since", applied="no")
    if done.before is None:
        if not kv.delete(entry(sign.platform)):
            raise Failure("POLICY_DENIED", "the sign was removed since", applied="no")
        return Output(None, changes=[change(sign.platform, None, "delete")])
    content = base64.b64decode(done.before)
    kv.set(entry(sign.platform), content)
    return Output(None, changes=[change(sign.platform, content, "set")])


@remove.compensate
def hang_again(platform: Platform, done: Done, key):
    if kv.get(entry(platform.platform)) is not None:
        raise Failure("POLICY_DENIED", "the platform has a new sign", applied="no")
    content = base64.b64decode(done.before)
    kv.set(entry(platform.platform), content)
    return Output(None, changes=[change(platform.platform, content, "set")])
