import html
import io
from dataclasses import dataclass
from email.generator import Generator
from email.message import EmailMessage
from email.policy import SMTP

from latchwork import Failure, step


@dataclass
class Letter:
    to: str
    subject: str
    paragraphs: list[str]


@dataclass
class Draft:
    message: str
    bytes: int


@step("Mail.Draft", determinism="pure", outcome=("Draft.Email", "draft"))
def draft(letter: Letter, context) -> Draft:
    """Writes a mail in plain text and in HTML."""
    if "\n" in letter.subject or "\n" in letter.to:
        raise Failure("INVALID_INPUT", "the subject and the recipient have one line")
    # The date and the message id are set when the mail is sent.
    message = EmailMessage(policy=SMTP)
    message["To"] = letter.to
    message["Subject"] = letter.subject
    message.set_content("\n\n".join(letter.paragraphs) + "\n")
    if len(letter.paragraphs) > 1:
        body = "".join(f"<p>{html.escape(text)}</p>\n" for text in letter.paragraphs)
        message.add_alternative(body, subtype="html")
    text = io.StringIO()
    Generator(text, policy=SMTP).flatten(message)
    made = text.getvalue()
    return Draft(made, len(made.encode()))
