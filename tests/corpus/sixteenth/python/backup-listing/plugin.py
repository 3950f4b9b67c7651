"""Lists the files of a backup by folder, from the raw headers of its archive."""

import base64
import os
from dataclasses import dataclass

from latchwork import Failure, step

MAX_ENTRIES = 3000
MAX_BYTES = 10**12


@dataclass
class Header:
    # Path as the archive has it, in base64, because the header holds bytes.
    path: str
    size: int


@dataclass
class Backup:
    label: str
    headers: list[Header]


@dataclass
class Folder:
    name: str
    files: list[str]
    size: int


@dataclass
class Listing:
    label: str
    folders: list[Folder]
    files: int
    largest: str


@step("Backup.List")
def list_backup(backup: Backup, context) -> Listing:
    """Lists the files of a backup, folder by folder."""
    if not backup.headers:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the backup {backup.label} has no files")
    if len(backup.headers) > MAX_ENTRIES:
        raise Failure("INVALID_INPUT", f"a listing has at most {MAX_ENTRIES} files")
    entries = [(path_of(header), header.size) for header in backup.headers]
    folders = {}
    for path, size in entries:
        folder, _, name = path.rpartition("/")
        found = folders.setdefault(folder or "/", Folder(folder or "/", [], 0))
        found.files.append(name)
        found.size += size
    for folder in folders.values():
        folder.files.sort()
    largest = min(entries, key=lambda entry: (-entry[1], entry[0]))[0]
    print(f"{backup.label}: {len(entries)} files in {len(folders)} folders")
    return Listing(backup.label, [folders[name] for name in sorted(folders)], len(entries), largest)


def path_of(header):
    """Returns the path of a header, as the file system of the backup spells it."""
    try:
        raw = base64.b64decode(header.path, validate=True)
    except ValueError as error:
        raise Failure("INVALID_INPUT", f"{header.path!r} is not base64") from error
    if not 0 <= header.size <= MAX_BYTES:
        raise Failure("INVALID_INPUT", f"the size {header.size} is out of range")
    path = os.fsdecode(raw.rstrip(b"\0")).removeprefix("./")
    if not path or path.endswith("/"):
        raise Failure("INVALID_INPUT", f"the header {header.path} names no file")
    return path
