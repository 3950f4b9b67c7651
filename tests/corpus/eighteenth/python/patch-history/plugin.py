from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, step


@dataclass
class Patch:
    id: str
    lines: int
    replaces: Optional[str] = None


@dataclass
class Archive:
    patches: list[Patch]


@dataclass
class Head:
    id: str
    first: str
    versions: int
    lines: int


@dataclass
class History:
    heads: list[Head]


def check_order(patches):
    """Each patch replaces an older one. The archive lists the newest patch first."""
    place = {}
    for at, patch in enumerate(patches):
        if patch.id in place:
            raise Failure("INVALID_INPUT", f"patch {patch.id} is in the archive twice")
        place[patch.id] = at
    for patch in patches:
        if patch.replaces is None:
            continue
        if patch.replaces not in place:
            raise Failure("INVALID_INPUT", f"patch {patch.id} replaces {patch.replaces}, which is not in the archive")
        if place[patch.replaces] <= place[patch.id]:
            raise Failure("INVALID_INPUT", f"patch {patch.id} replaces {patch.replaces}, which is not older")


def line_of(patch, by_id):
    """Returns the first version of a patch, the number of its versions, and their lines."""
    if patch.replaces is None:
        return patch.id, 1, patch.lines
    first, versions, lines = line_of(by_id[patch.replaces], by_id)
    return first, versions + 1, lines + patch.lines


@step("Patch.History")
def history(archive: Archive, context) -> History:
    """Lists the current patches of an archive, with the history of each."""
    check_order(archive.patches)
    by_id = {patch.id: patch for patch in archive.patches}
    replaced = {patch.replaces for patch in archive.patches if patch.replaces is not None}
    heads = []
    for patch in archive.patches:
        if patch.id in replaced:
            continue
        first, versions, lines = line_of(patch, by_id)
        heads.append(Head(patch.id, first, versions, lines))
    return History(heads)
