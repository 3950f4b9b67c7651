"""Messages of a concert hall to its subscribers: a text, and the same as HTML.

The result is a whole message. The tool that sends it adds Date, Message-ID and the address.
"""

import email.generator  # noqa: F401  (as_string imports it, and a component has no files to import from)
import html
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from typing import Optional

from latchwork import Failure, step


@dataclass
class Concert:
    title: str
    day: str
    hall: str
    cents: int


@dataclass
class Mailout:
    season: str
    greeting: str
    concerts: list[Concert]
    plain_only: bool = False
    unsubscribe: Optional[str] = None


@dataclass
class Message:
    subject: str
    source: str
    parts: int


def price(cents):
    return "free" if cents == 0 else f"{cents // 100}.{cents % 100:02} EUR"


def as_text(mailout):
    lines = [mailout.greeting, ""]
    for concert in mailout.concerts:
        lines.append(f"* {concert.title}, {concert.day}, {concert.hall} ({price(concert.cents)})")
    if mailout.unsubscribe:
        lines += ["", f"No more of these: {mailout.unsubscribe}"]
    return "\n".join(lines) + "\n"


def as_html(mailout):
    rows = "".join(
        f"<tr><td>{html.escape(c.title)}</td><td>{html.escape(c.day)}</td><td>{html.escape(c.hall)}</td>"
        f"<td>{price(c.cents)}</td></tr>\n"
        for c in mailout.concerts
    )
    end = f'<p><a href="{html.escape(mailout.unsubscribe)}">No more of these</a></p>\n' if mailout.unsubscribe else ""
    return f"<p>{html.escape(mailout.greeting)}</p>\n<table>\n{rows}</table>\n{end}"


@step("Mailout.Compose")
def compose(mailout: Mailout, context) -> Message:
    """Composes the message about the concerts of a season."""
    if not mailout.concerts:
        raise Failure("INVALID_INPUT", f"the season {mailout.season} has no concert")
    subject = f"{mailout.season}: {len(mailout.concerts)} concerts"
    if "\n" in subject or "\r" in subject:
        raise Failure("INVALID_INPUT", "the name of the season has a line end")
    # Sorted, so that the order in which the desk entered the concerts does not matter.
    mailout.concerts.sort(key=lambda concert: (concert.day, concert.title))
    message = EmailMessage(policy=SMTP)
    message["From"] = "Box Office <box-office@concert.example>"
    message["Subject"] = subject
    if mailout.unsubscribe:
        message["List-Unsubscribe"] = f"<{mailout.unsubscribe}>"
    message.set_content(as_text(mailout))
    if not mailout.plain_only:
        message.add_alternative(as_html(mailout), subtype="html")
    return Message(subject, message.as_string(), 1 if mailout.plain_only else 2)
