from dataclasses import dataclass

from latchwork import Failure, step

NEEDED = {
    "visa": {"passport", "photo", "insurance", "invitation", "bank statement"},
    "residence": {"passport", "photo", "lease", "payslip", "insurance", "birth certificate"},
    "driving": {"passport", "photo", "eye test"},
}


@dataclass
class Application:
    kind: str
    name: str
    documents: list[str]


@dataclass
class Letter:
    complete: bool
    text: str


@step("Application.Review", determinism="pure")
def review(application: Application, context) -> Letter:
    """Writes a letter that names the missing documents of an application."""
    needed = NEEDED.get(application.kind)
    if needed is None:
        raise Failure("INVALID_INPUT", f"there is no application of the kind {application.kind}")
    given = {document.strip().lower() for document in application.documents}
    missing = needed - given
    if not missing:
        return Letter(True, f"Dear {application.name},\nyour application is complete.\n")
    documents = [f"- {document}" for document in missing]
    return Letter(False, "\n".join([f"Dear {application.name},", "please send us:", *documents]) + "\n")
