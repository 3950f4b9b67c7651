import base64
import csv
import hashlib
import io
import zipfile
from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Sheet:
    name: str
    rows: list[list[str]]


@dataclass
class Book:
    sheets: list[Sheet]


@dataclass
class Packed:
    sha256: str
    data: str


def _csv(rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue()


@step("Report.Pack", determinism="pure")
def pack(book: Book, context) -> Packed:
    """Packs the sheets of a report into one archive."""
    names = [sheet.name for sheet in book.sheets]
    if len(set(names)) < len(names):
        raise Failure("INVALID_INPUT", "two sheets have the same name")
    file = io.BytesIO()
    # Stored and not compressed, so that the bytes do not depend on a version of zlib.
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for sheet in sorted(book.sheets, key=lambda sheet: sheet.name):
            archive.writestr(f"{sheet.name}.csv", _csv(sheet.rows))
    data = file.getvalue()
    return Packed(hashlib.sha256(data).hexdigest(), base64.b64encode(data).decode())
