"""Keeps the roster of a sauna: one entry of the map for each day."""

import json
from dataclasses import dataclass
from datetime import date

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Wish:
    day: str
    hour: int
    guests: int


@dataclass
class Booked:
    reference: str
    day: str
    hour: int


def entry(wish):
    try:
        return f"roster:{date.fromisoformat(wish.day).isoformat()}"
    except ValueError:
        raise Failure("INVALID_INPUT", f"{wish.day} is no day") from None


def roster(name):
    stored = kv.get(name)
    return [] if stored is None else json.loads(stored)


def booked(wish, key):
    return Output(Booked(key, wish.day, wish.hour), changes=[Change("sauna booking", key, "create")])


@tool("Sauna.Book", output=Booked, effects=["internal_write"])
def book(wish: Wish, context):
    """Books the sauna for an hour of a day."""
    name = entry(wish)
    if not 8 <= wish.hour <= 21 or not 1 <= wish.guests <= 8:
        raise Failure("INVALID_INPUT", "the sauna is open from 8 to 22 and has room for 8 guests")
    # There may be several parties in the same hour. The attendant assigns the benches.
    bookings = roster(name)
    bookings.append({"reference": context.external_key, "hour": wish.hour, "guests": wish.guests})
    bookings.sort(key=lambda booking: (booking["hour"], booking["reference"]))
    kv.set(name, json.dumps(bookings))
    return booked(wish, context.external_key)


@book.reconcile
def find(wish: Wish, key):
    if any(booking["reference"] == key for booking in roster(entry(wish))):
        return happened(booked(wish, key))
    return "did_not_happen"
