"""Numbers the clauses of a treaty, from the version that its input names."""

import hashlib
import logging
import re
import uuid
from dataclasses import dataclass

from latchwork import Failure, step, tools

CLAUSE = re.compile(r"^\((\d{1,4})\)\s+(\S.*)$")
DIGEST = re.compile(r"[0-9a-f]{64}")

logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
logger = logging.getLogger("treaty")


@dataclass
class Treaty:
    path: str
    # SHA-256 of the text, in hexadecimal digits.
    sha256: str


@dataclass
class Clause:
    id: str
    number: int
    text: str
    refers_to: list[int]


@dataclass
class Clauses:
    clauses: list[Clause]
    missing: list[int]


@step("Treaty.Number")
def number(treaty: Treaty, context) -> Clauses:
    """Gives each clause of a treaty an id, and lists its references."""
    sha256 = treaty.sha256.lower()
    if not DIGEST.fullmatch(sha256):
        raise Failure("INVALID_INPUT", "sha256 has 64 hexadecimal digits")
    file = tools.call("File.Read", {"path": treaty.path})
    text = file.get("text") if isinstance(file, dict) else None
    if not isinstance(text, str) or hashlib.sha256(text.encode()).hexdigest() != sha256:
        raise Failure("INVALID_INPUT", f"{treaty.path} does not have the text with the SHA-256 {sha256}")
    found = [head for line in text.splitlines() if (head := CLAUSE.match(line.strip()))]
    if not found:
        raise Failure("INVALID_INPUT", f"{treaty.path} has no clauses")
    clauses = [clause(sha256, int(head[1]), head[2].strip()) for head in found]
    numbers = {one.number for one in clauses}
    if len(numbers) < len(clauses):
        raise Failure("INVALID_INPUT", f"{treaty.path} uses the number of a clause twice")
    missing = sorted({to for one in clauses for to in one.refers_to} - numbers)
    logger.info("%d clauses, %d references lead nowhere", len(clauses), len(missing))
    return Clauses(sorted(clauses, key=lambda one: one.number), missing)


def clause(sha256, at, text):
    """Returns a clause with an id that follows from the treaty and the number."""
    references = sorted({int(to) for to in re.findall(r"\bclause (\d{1,4})\b", text)})
    return Clause(str(uuid.uuid5(uuid.NAMESPACE_URL, f"treaty:{sha256}:{at}")), at, text, references)
