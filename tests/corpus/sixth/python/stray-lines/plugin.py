"""Groups the lines of an invoice by account, and refuses lines without an account."""

from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Invoice:
    lines: list[str]


class Line:
    """A line "ACCOUNT: TEXT = CENTS"."""

    def __init__(self, text):
        head, _, cents = text.rpartition("=")
        account, _, self.text = head.partition(":")
        self.account = account.strip()
        self.cents = int(cents) if cents.strip().isdecimal() and cents.isascii() and len(cents) < 12 else None

    @property
    def stray(self):
        return not self.account or self.cents is None


@step("Invoice.Group", output={"type": "object", "additionalProperties": {"type": "integer"}})
def group(invoice: Invoice, context):
    """Returns the cents of each account."""
    lines = [Line(text) for text in invoice.lines[:1000]]
    stray = [line for line in lines if line.stray]
    if stray:
        raise Failure("INVALID_INPUT", f"{len(stray)} lines have no account or no amount, first {stray[0]}")
    accounts = {}
    for line in lines:
        accounts[line.account] = accounts.get(line.account, 0) + line.cents
    return accounts
