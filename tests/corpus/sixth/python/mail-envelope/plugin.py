"""Writes the text of a mail with a plain and an HTML part."""

import html
from dataclasses import dataclass
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

from latchwork import Failure, step


@dataclass
class Mail:
    to: str
    subject: str
    text: str
    rich: bool


@dataclass
class Envelope:
    source: str


def plain(mail):
    return MIMEText(mail.text, "plain", "utf-8")


def rich(mail):
    both = MIMEMultipart("alternative")
    both.attach(plain(mail))
    both.attach(MIMEText(f"<p>{html.escape(mail.text)}</p>", "html", "utf-8"))
    return both


@step("Mail.Compose", determinism="pure")
def compose(mail: Mail, context) -> Envelope:
    """Writes the source of a mail."""
    if "@" not in mail.to or any(c in mail.to + mail.subject for c in "\r\n"):
        raise Failure("INVALID_INPUT", "the address or the subject is not valid")
    message = rich(mail) if mail.rich else plain(mail)
    message["To"] = mail.to
    message["Subject"] = mail.subject
    return Envelope(message.as_string())
