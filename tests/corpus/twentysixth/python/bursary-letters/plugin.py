import json
from dataclasses import dataclass
from typing import Literal

from latchwork import Failure, log, step, tools


@dataclass
class Student:
    name: str
    email: str
    pounds: int


@dataclass
class Round:
    term: str
    kind: Literal["award", "reminder"]
    students: list[Student]


@dataclass
class Sent:
    term: str
    letters: int
    receipts: list[str]


def letter(kind, term, student):
    if kind == "reminder":
        return f"Dear {student.name}, please confirm your bursary of {student.pounds} pounds for {term}."
    return f"Dear {student.name}, you have been awarded a bursary of {student.pounds} pounds for {term}."


@step("Bursary.Letters", effects=["external_send"], determinism="external")
def letters(round: Round, context) -> Sent:
    """Sends the letters of a round of bursaries, one to each student."""
    if not round.students:
        raise Failure("INVALID_INPUT", f"the round of {round.term} has no students")
    for student in round.students:
        if "@" not in student.email:
            raise Failure("INVALID_INPUT", f"{student.name} has no address")
    if len({student.email for student in round.students}) < len(round.students):
        raise Failure("INVALID_INPUT", "two students have the same address")

    receipts = []
    for student in round.students:
        address = student.email.strip().lower()
        answer = tools.call(
            "Mail.Send",
            {"to": address, "subject": f"Bursary, {round.term}", "text": letter(round.kind, round.term, student)},
            action_key=json.dumps(["bursary", round.term, round.kind, address]),
        )
        receipts.append(str(answer["id"]))
    log.info("%d letters for %s", len(receipts), round.term)
    return Sent(round.term, len(receipts), receipts)
