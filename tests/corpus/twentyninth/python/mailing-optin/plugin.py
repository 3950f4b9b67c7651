"""Consents to the mailings of a museum. A consent is the entry of its list and its address in the map."""

import hashlib
import json
from dataclasses import dataclass
from typing import Literal

from latchwork import Change, Failure, Output, kv, tool

WEEK = 7 * 24 * 3600


@dataclass
class Consent:
    address: str
    mailing: Literal["exhibitions", "concerts", "school"]
    language: Literal["de", "en", "fr"] = "en"


@dataclass
class Withdrawal:
    address: str
    mailing: Literal["exhibitions", "concerts", "school"]


@dataclass
class State:
    entry: str
    consents: bool


def normal(address):
    address = address.strip()
    local, at, domain = address.rpartition("@")
    if not at or not local or "." not in domain or len(address) > 200 or any(c.isspace() for c in address):
        raise Failure("INVALID_INPUT", "this is no mail address")
    return f"{local}@{domain.lower()}"


def entry_of(mailing, address):
    # A key of the map has at most 256 bytes, and an address can have more.
    return f"consent/{mailing}/{hashlib.sha256(address.encode()).hexdigest()}"


@tool("Consent.Give", output=State, effects=["internal_write"], idempotent_by_key_seconds=WEEK)
def give(consent: Consent, context):
    """Enters the consent to a mailing. The same consent again changes nothing."""
    address = normal(consent.address)
    entry = entry_of(consent.mailing, address)
    text = json.dumps({"address": address, "language": consent.language})
    kv.set(entry, text)
    return Output(State(entry, True), changes=[Change("consent", entry, "update", version=text)])


@tool("Consent.Withdraw", output=State, effects=["internal_write"], idempotent_by_key_seconds=WEEK)
def withdraw(withdrawal: Withdrawal, context):
    """Removes the consent to a mailing. Without a consent there is nothing to remove."""
    address = normal(withdrawal.address)
    entry = entry_of(withdrawal.mailing, address)
    # The law asks for the address to be gone, so nothing of it stays behind.
    kv.delete(entry)
    return Output(State(entry, False), changes=[Change("consent", entry, "delete")])
