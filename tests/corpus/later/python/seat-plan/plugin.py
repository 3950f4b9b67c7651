import hashlib
import random
from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Exam:
    course: str
    students: list[str]
    rows: int
    columns: int


@dataclass
class Plan:
    rows: list[list[str]]
    digest: str


@step("Exam.Seats", determinism="pure")
def seats(exam: Exam, context) -> Plan:
    """Seats the students of an exam. Equal exams have equal plans, so that a lost plan can be printed again."""
    if not 1 <= exam.rows <= 50 or not 1 <= exam.columns <= 50:
        raise Failure("INVALID_INPUT", f"{exam.rows} by {exam.columns} is not a room")
    if len(exam.students) > exam.rows * exam.columns:
        raise Failure("INVALID_INPUT", f"{len(exam.students)} students do not fit into {exam.rows * exam.columns} seats")
    # The generator has a seed of its own, which follows from the input.
    seed = hashlib.sha256("\n".join([exam.course, *sorted(exam.students)]).encode()).hexdigest()
    generator = random.Random(seed)
    order = sorted(exam.students)
    generator.shuffle(order)
    order += [""] * (exam.rows * exam.columns - len(order))
    rows = [order[at:at + exam.columns] for at in range(0, len(order), exam.columns)]
    return Plan(rows, seed[:12])
