"""Renders a bulletin as a MIME message with a text part and an HTML part."""

import email.generator
import html
import io
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP

from latchwork import Failure, step


@dataclass
class Bulletin:
    sender: str
    recipient: str
    subject: str
    paragraphs: list[str]


@dataclass
class Rendered:
    message: str
    size: int


def plain(paragraphs):
    return "\n\n".join(paragraphs) + "\n"


def markup(paragraphs):
    body = "".join(f"<p>{html.escape(text)}</p>\n" for text in paragraphs)
    return f"<!doctype html>\n<html><body>\n{body}</body></html>\n"


@step("Bulletin.Render")
def render(bulletin: Bulletin, context) -> Rendered:
    """Renders a bulletin as a message that a mail tool can send."""
    if not bulletin.paragraphs:
        raise Failure("INVALID_INPUT", "a bulletin needs at least one paragraph")
    if "\n" in bulletin.subject or "\r" in bulletin.subject:
        raise Failure("INVALID_INPUT", "the subject has a line break")
    message = EmailMessage(policy=SMTP)
    message["From"] = bulletin.sender
    message["To"] = bulletin.recipient
    message["Subject"] = bulletin.subject
    message.set_content(plain(bulletin.paragraphs))
    message.add_alternative(markup(bulletin.paragraphs), subtype="html")
    buffer = io.BytesIO()
    email.generator.BytesGenerator(buffer, policy=SMTP).flatten(message)
    raw = buffer.getvalue()
    return Rendered(raw.decode("ascii"), len(raw))
