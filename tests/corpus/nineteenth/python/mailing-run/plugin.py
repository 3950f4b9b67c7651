"""Sends the monthly letter of an observatory to its readers."""

from collections import deque
from dataclasses import dataclass

from latchwork import Failure, log, step, tools

# Codes of failures that pass. A letter that fails with another code needs a person.
PASSING = {"NETWORK_TIMEOUT", "RATE_LIMIT", "TEMPORARY_PROVIDER_ERROR", "TRANSIENT_DB_LOCK", "DEPENDENCY_UNAVAILABLE"}


@dataclass
class Reader:
    name: str
    mail: str


@dataclass
class Issue:
    month: str
    subject: str
    text: str
    readers: list[Reader]


@dataclass
class Sent:
    month: str
    letters: int
    late: list[str]


@step("Letter.SendAll", effects=["external_send"], determinism="external")
def send_all(issue: Issue, context) -> Sent:
    """Sends one letter to each reader. A letter that cannot be sent now moves to the end of the queue."""
    if not issue.text.strip():
        raise Failure("INVALID_INPUT", f"the letter of {issue.month} has no text")
    doubles = len(issue.readers) - len({reader.mail for reader in issue.readers})
    if doubles:
        raise Failure("INVALID_INPUT", f"{doubles} readers have the mail address of another one")
    queue = deque(issue.readers)
    letters, late = 0, []
    while queue:
        reader = queue.popleft()
        try:
            tools.call("Mail.Send", letter(issue, reader), action_key=f"letter:{issue.month}:{reader.mail}")
        except Failure as failure:
            if failure.code not in PASSING:
                raise
            log.warn("%s has to wait: %s", reader.mail, failure.code)
            if reader.mail not in late:
                late.append(reader.mail)
            queue.append(reader)
            continue
        letters += 1
    log.info("%d letters for %s", letters, issue.month)
    return Sent(issue.month, letters, late)


def letter(issue, reader):
    """Writes the letter of one reader."""
    body = f"Dear {reader.name},\n\n{issue.text.strip()}\n\nClear skies,\nthe observatory\n"
    return {"to": reader.mail, "subject": issue.subject, "body": body}
