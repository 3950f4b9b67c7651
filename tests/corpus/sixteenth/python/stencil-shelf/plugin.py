"""Keeps the stencils of a sign workshop by their name."""

import hashlib
import re
from dataclasses import dataclass
from typing import Optional

from latchwork import Change, Failure, Output, kv, log, tool

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+){0,7}")
MAX_BYTES = 60_000


@dataclass
class Stencil:
    name: str
    # Outline of the stencil, as SVG path data.
    path: str


@dataclass
class Named:
    name: str


@dataclass
class Kept:
    name: str
    digest: str


@dataclass
class Removed:
    name: str
    digest: str


@dataclass
class Shown:
    path: Optional[str]


def place(name):
    if not NAME.fullmatch(name) or len(name) > 60:
        raise Failure("INVALID_INPUT", f"{name!r} is not a name of a stencil")
    return f"stencil/{name}"


def digest(text):
    return hashlib.sha256(text).hexdigest()


@tool("Stencil.Keep", output=Kept, effects=["internal_write"])
def keep(stencil: Stencil, context):
    """Keeps a stencil. A stencil with the same name is replaced."""
    entry = place(stencil.name)
    text = stencil.path.strip().encode()
    if not text.startswith((b"M", b"m")) or len(text) > MAX_BYTES:
        raise Failure("INVALID_INPUT", f"the path of {stencil.name} does not begin with a move, or is too long")
    kv.set(entry, text)
    change = Change("stencil", stencil.name, "update", version=digest(text))
    return Output(Kept(stencil.name, digest(text)), changes=[change])


@tool("Stencil.Remove", output=Removed, effects=["internal_write"])
def remove(named: Named, context):
    """Removes a stencil from the shelf."""
    entry = place(named.name)
    text = kv.get(entry)
    if text is None or not kv.delete(entry):
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no stencil {named.name}")
    log.info("removed %s, %d bytes", named.name, len(text))
    change = Change("stencil", named.name, "delete", version=digest(text))
    return Output(Removed(named.name, digest(text)), changes=[change])


# Called when a job is resumed. Both operators change the same shelf.
@remove.verify
@keep.verify
def check(change):
    text = kv.get(place(change.resource_id))
    if text is None:
        return f"there is no stencil {change.resource_id}"
    found = digest(text)
    return True if found == change.version else f"the stencil {change.resource_id} has the digest {found}"


@tool("Stencil.Show", output=Shown, effects=["read_only"])
def show(named: Named, context):
    """Returns the path of a stencil."""
    text = kv.get(place(named.name))
    return Shown(None if text is None else text.decode())
