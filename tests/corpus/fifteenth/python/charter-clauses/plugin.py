import hashlib
import re
from dataclasses import dataclass

from latchwork import Failure, step, tools

CLAUSE = re.compile(r"^\s*(\d{1,3})\.\s+(.*\S)\s*$")
DUTY = re.compile(r"\b(shall|must|may not)\b", re.I)


@dataclass
class Charter:
    path: str
    sha256: str


@dataclass
class Clause:
    number: int
    text: str
    is_duty: bool


@dataclass
class Clauses:
    clauses: list[Clause]
    duties: int
    missing: list[int]


# The operator is pure although it reads a file, because the input has the SHA-256 of the content.
@step("Charter.Clauses")
def clauses(charter: Charter, context) -> Clauses:
    """Splits a town charter into its numbered clauses and marks the duties."""
    text = tools.call("Archive.Read", {"path": charter.path})["text"]
    if hashlib.sha256(text.encode()).hexdigest() != charter.sha256.lower():
        raise Failure("INVALID_INPUT", f"{charter.path} has not the content with the SHA-256 {charter.sha256}")
    found = {}
    last = None
    for line in text.splitlines():
        match = CLAUSE.match(line)
        if match:
            last = int(match[1])
            if last in found:
                raise Failure("INVALID_INPUT", f"clause {last} is in the charter twice")
            found[last] = [match[2]]
        elif line.strip() and last is not None:
            found[last].append(line.strip())
    if not found:
        raise Failure("INVALID_INPUT", f"{charter.path} has no numbered clauses")
    listed = []
    for number in sorted(found):
        whole = " ".join(found[number])
        listed.append(Clause(number, whole, bool(DUTY.search(whole))))
    # The numbers that a complete charter would have and this one has not.
    missing = sorted(set(range(1, max(found) + 1)) - set(found))
    return Clauses(listed, sum(clause.is_duty for clause in listed), missing)
