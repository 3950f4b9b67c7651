"""Reads the battery of a beacon at sea. The radio link drops at times, so that a lost question is asked once more."""

import time
from dataclasses import dataclass

from latchwork import Failure, log, step, tools

LOST = ("NETWORK_TIMEOUT", "TEMPORARY_PROVIDER_ERROR")


@dataclass
class Beacon:
    number: int


@dataclass
class Battery:
    number: int
    percent: int


def ask(number):
    return tools.call("Beacon.Battery", {"number": number})["percent"]


@step("Beacon.Poll", determinism="external")
def poll(beacon: Beacon, context) -> Battery:
    """Reads the battery of a beacon."""
    if beacon.number < 1:
        raise Failure("INVALID_INPUT", "beacons are numbered from 1")
    try:
        percent = ask(beacon.number)
    except Failure as failure:
        if failure.code not in LOST:
            raise
        log.warn("beacon %d: %s", beacon.number, failure.message)
        time.sleep(2)
        percent = ask(beacon.number)
    return Battery(beacon.number, percent)
