import base64
import hashlib
import io
import tarfile
from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class File:
    path: str
    text: str


@dataclass
class Bundle:
    files: list[File]


@dataclass
class Packed:
    sha256: str
    data: str


@step("Bundle.Pack", determinism="pure")
def pack(bundle: Bundle, context) -> Packed:
    """Packs text files into an archive that depends on the files alone."""
    files = {file.path: file.text.encode() for file in bundle.files}
    if len(files) < len(bundle.files):
        raise Failure("INVALID_INPUT", "two files have the same path")
    if any(path.startswith("/") or ".." in path.split("/") for path in files):
        raise Failure("INVALID_INPUT", "a path leaves the archive")
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(files):
            # A TarInfo made by hand has the time 0 and the owner 0.
            entry = tarfile.TarInfo(path)
            entry.size = len(files[path])
            entry.mode = 0o644
            archive.addfile(entry, io.BytesIO(files[path]))
    data = made.getvalue()
    return Packed(hashlib.sha256(data).hexdigest(), base64.b64encode(data).decode())
