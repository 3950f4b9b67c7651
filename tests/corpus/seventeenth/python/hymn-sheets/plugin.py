"""Makes the hymn sheet of a service from the order of service and the files of the hymns."""

from dataclasses import dataclass

from latchwork import Failure, step, tools

MAX_HYMNS = 12


@dataclass
class Service:
    """An order of service, pinned by the SHA-256 of its file."""

    path: str
    sha256: str
    verses: int = 4


@dataclass
class Sheet:
    title: str
    hymns: list[str]
    text: str


def read(path):
    """Reads a file of the church office: its text and the SHA-256 of its content."""
    return tools.call("File.Read", {"path": path})


def parsed(text):
    """Reads an order of service: its title, and a line `hymn: FILE` for each hymn."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise Failure("INVALID_INPUT", "the order of service is empty")
    hymns = [line.removeprefix("hymn:").strip() for line in lines[1:] if line.startswith("hymn:")]
    return lines[0], hymns


def verses_of(text, count):
    """Returns the name of a hymn, and its first verses. Blank lines are between the verses."""
    parts = [part.strip() for part in text.replace("\r\n", "\n").split("\n\n") if part.strip()]
    if len(parts) < 2:
        raise Failure("INVALID_INPUT", "a hymn needs a name and a verse")
    return parts[0], parts[1 : count + 1]


@step("Hymns.Sheet", outcome=("Hymn.Sheet", "draft"))
def sheet(given: Service, context) -> Sheet:
    """Makes the hymn sheet of a service."""
    if not 1 <= given.verses <= 20:
        raise Failure("INVALID_INPUT", f"verses: a sheet has 1 to 20 verses of a hymn, not {given.verses}")
    order = read(given.path)
    if order["sha256"].lower() != given.sha256.lower():
        raise Failure("INVALID_INPUT", f"{given.path} is not the file with this SHA-256")
    title, files = parsed(order["text"])
    if not files:
        raise Failure("INVALID_INPUT", f"{given.path} names no hymns")
    if len(files) > MAX_HYMNS:
        raise Failure("INVALID_INPUT", f"a sheet has room for {MAX_HYMNS} hymns, not {len(files)}")
    folder = given.path.rpartition("/")[0]
    names, blocks = [], []
    for number, file in enumerate(files, 1):
        name, verses = verses_of(read(f"{folder}/{file}")["text"], given.verses)
        names.append(name)
        blocks.append(f"{number}. {name}\n\n" + "\n\n".join(verses))
    return Sheet(title=title, hymns=names, text=f"{title}\n\n" + "\n\n".join(blocks) + "\n")
