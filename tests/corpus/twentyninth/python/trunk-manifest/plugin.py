"""Manifests of the trunks on a ferry. A manifest has one entry for each trunk, and a head that makes it valid."""

import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Trunk:
    label: str
    kilograms: int


@dataclass
class Voyage:
    ship: str
    port: str
    trunks: list[Trunk]


@dataclass
class Manifest:
    manifest: str
    trunks: int
    kilograms: int


def head_of(key):
    return f"manifest/{key}"


def trunk_of(key, number):
    return f"trunk/{key}/{number}"


def checked(voyage):
    if not 1 <= len(voyage.ship) <= 60 or not 1 <= len(voyage.port) <= 60:
        raise Failure("INVALID_INPUT", "ship and port have to be named")
    if not 1 <= len(voyage.trunks) <= 120:
        raise Failure("INVALID_INPUT", "a manifest has 1 to 120 trunks")
    seen = set()
    for trunk in voyage.trunks:
        if not 1 <= len(trunk.label) <= 60 or trunk.label in seen:
            raise Failure("INVALID_INPUT", f"the label {trunk.label[:60]} is empty, too long or used twice")
        if not 1 <= trunk.kilograms <= 500:
            raise Failure("INVALID_INPUT", f"{trunk.label} cannot weigh {trunk.kilograms} kg")
        seen.add(trunk.label)


# A repetition writes the same entries again.
@tool("Manifest.File", output=Manifest, effects=["internal_write"], idempotent_by_key_seconds=2 * 86_400)
def file(voyage: Voyage, context):
    """Files the manifest of a voyage."""
    checked(voyage)
    key = context.external_key
    for number, trunk in enumerate(voyage.trunks):
        kv.set(trunk_of(key, number), json.dumps({"label": trunk.label, "kilograms": trunk.kilograms}))
    # Loaders read trunks through the head alone, so it comes last.
    kv.set(head_of(key), json.dumps({"ship": voyage.ship, "port": voyage.port, "trunks": len(voyage.trunks)}))
    return Output(
        Manifest(head_of(key), len(voyage.trunks), sum(trunk.kilograms for trunk in voyage.trunks)),
        receipt={"manifest": head_of(key)},
        changes=[Change("manifest", head_of(key), "create", external_ref=voyage.ship)],
    )


@file.compensate
def withdraw(voyage: Voyage, result, key):
    head = kv.get(head_of(key))
    if head is None:
        raise Failure("POLICY_DENIED", f"{result.manifest} was withdrawn by somebody else")
    if json.loads(head) != {"ship": voyage.ship, "port": voyage.port, "trunks": len(voyage.trunks)}:
        raise Failure("POLICY_DENIED", f"{result.manifest} was changed since")
    # The head goes first: without it the trunks are not loaded.
    if not kv.delete(head_of(key)):
        raise Failure("POLICY_DENIED", f"{result.manifest} was withdrawn by somebody else")
    for number, trunk in enumerate(voyage.trunks):
        if not kv.delete(trunk_of(key, number)):
            raise Failure("POLICY_DENIED", f"{trunk.label} was taken off {result.manifest} by somebody else")
    return Output({"withdrawn": result.manifest}, changes=[Change("manifest", head_of(key), "delete")])
