from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, step


@dataclass
class Folder:
    id: str
    bytes: int
    parent: Optional[str] = None


@dataclass
class Archive:
    folders: list[Folder]
    show: int


@dataclass
class Usage:
    id: str
    # Decimal digits, because archives grow beyond the integers of a double.
    bytes: str
    permille: int


@dataclass
class Report:
    bytes: str
    largest: list[Usage]


def totals_of(folders):
    """Adds the bytes of each folder to all folders above it, from the leaves upwards."""
    totals = {}
    for folder in folders:
        if folder.id in totals:
            raise Failure("INVALID_INPUT", f"folder {folder.id} is in the list twice")
        if folder.bytes < 0:
            raise Failure("INVALID_INPUT", f"folder {folder.id} has less than 0 bytes")
        totals[folder.id] = folder.bytes
    parents = {folder.id: folder.parent for folder in folders}
    children = dict.fromkeys(totals, 0)
    for folder in folders:
        if folder.parent is not None:
            if folder.parent not in totals:
                raise Failure("INVALID_INPUT", f"folder {folder.id} is in the unknown folder {folder.parent}")
            children[folder.parent] += 1
    ready = [name for name, count in children.items() if count == 0]
    done = 0
    while ready:
        name = ready.pop()
        done += 1
        parent = parents[name]
        if parent is not None:
            totals[parent] += totals[name]
            children[parent] -= 1
            if children[parent] == 0:
                ready.append(parent)
    if done < len(totals):
        raise Failure("INVALID_INPUT", "some folders contain each other")
    return totals


@step("Media.Usage")
def usage(archive: Archive, context) -> Report:
    """Reports the largest folders of a media archive, with everything below them."""
    if not 1 <= archive.show <= 200:
        raise Failure("INVALID_INPUT", "a report shows 1 to 200 folders")
    totals = totals_of(archive.folders)
    whole = sum(folder.bytes for folder in archive.folders)
    order = sorted(totals, key=lambda name: (-totals[name], name))
    largest = [
        Usage(name, str(totals[name]), totals[name] * 1000 // whole if whole else 0) for name in order[: archive.show]
    ]
    return Report(str(whole), largest)
