"""Pays the speakers of an event."""

import json
from dataclasses import dataclass

from latchwork import Failure, log, step, tools


@dataclass
class Speaker:
    name: str
    iban: str
    cents: int


@dataclass
class Event:
    event: str
    year: int
    speakers: list[Speaker]


@dataclass
class Payment:
    name: str
    cents: int
    reference: str


@dataclass
class Open:
    name: str
    reason: str


@dataclass
class Run:
    paid: list[Payment]
    open: list[Open]
    cents: int


def checked(iban):
    """Returns an IBAN without blanks, after a check of its digits."""
    plain = iban.replace(" ", "").upper()
    if not plain.isalnum() or not plain.isascii() or len(plain) < 15:
        raise Failure("INVALID_INPUT", f"{iban} is no IBAN")
    digits = "".join(str(int(char, 36)) for char in plain[4:] + plain[:4])
    if int(digits) % 97 != 1:
        raise Failure("INVALID_INPUT", f"the check digits of {iban} are wrong")
    return plain


@step("Honorarium.Pay", effects=["external_write"], determinism="external")
def pay(event: Event, context) -> Run:
    """Pays each speaker of an event, once."""
    accounts = [checked(speaker.iban) for speaker in event.speakers]
    if len(set(accounts)) < len(accounts):
        raise Failure("INVALID_INPUT", f"two speakers of {event.event} have one account")
    calls = []
    for line, (speaker, account) in enumerate(zip(event.speakers, accounts), 1):
        if speaker.cents <= 0:
            raise Failure("INVALID_INPUT", f"{speaker.name} gets nothing")
        order = {
            "account": account,
            "holder": speaker.name,
            "cents": speaker.cents,
            "text": f"Honorarium {event.event} {event.year}",
        }
        # A line of the list is paid once, also if the run is started again.
        calls.append(("Bank.Transfer", order, json.dumps(["honorarium", event.event, event.year, line])))
    run = Run([], [], 0)
    for speaker, answer in zip(event.speakers, tools.call_all(calls)):
        if isinstance(answer, Failure):
            run.open.append(Open(speaker.name, answer.code))
            continue
        run.paid.append(Payment(speaker.name, speaker.cents, answer["reference"]))
        run.cents += speaker.cents
    log.info("%s: %d paid, %d open", event.event, len(run.paid), len(run.open))
    return run
