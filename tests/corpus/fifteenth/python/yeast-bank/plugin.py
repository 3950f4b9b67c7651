import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Culture:
    strain: str
    brewery: str
    vials: int
    freezer_celsius: int


@dataclass
class Deposit:
    id: str
    strain: str
    certificate: str


@dataclass
class Wanted:
    id: str


@dataclass
class Strain:
    strain: str
    vials: int
    freezer_celsius: int


def deposited(key, certificate):
    """Makes the output of a deposit from its certificate."""
    text = certificate["text"]
    return Output(
        Deposit(key, certificate["strain"], text),
        receipt={"certificate": text},
        changes=[Change("yeast-deposit", key, "create", version=text)],
    )


@tool("Yeast.Deposit", output=Deposit, effects=["internal_write"])
def deposit(culture: Culture, context):
    """Deposits a yeast culture in the bank and issues its certificate."""
    if not 1 <= len(culture.strain) <= 100 or len(culture.brewery) > 200:
        raise Failure("INVALID_INPUT", "the names of strain and brewery are too long or empty")
    if not 2 <= culture.vials <= 50 or not -196 <= culture.freezer_celsius <= -60:
        raise Failure("INVALID_INPUT", "a deposit has 2 to 50 vials at -60 degrees or colder")
    key = context.external_key
    strain = {"strain": culture.strain, "vials": culture.vials, "freezer_celsius": culture.freezer_celsius}
    kv.set(f"strain/{key}", json.dumps(strain))
    text = f"{culture.vials} vials of {culture.strain} for {culture.brewery}"
    certificate = {"strain": culture.strain, "text": text}
    kv.set(f"certificate/{key}", json.dumps(certificate))
    return deposited(key, certificate)


# The certificate is written last, so it shows that the deposit is complete.
@deposit.reconcile
def find(culture: Culture, key):
    certificate = kv.get(f"certificate/{key}")
    return "did_not_happen" if certificate is None else happened(deposited(key, json.loads(certificate)))


@tool("Yeast.Look", output=Strain, effects=["read_only"])
def look(wanted: Wanted, context):
    """Looks up the strain of a deposit in the freezer list."""
    entry = kv.get(f"strain/{wanted.id[:200]}")
    if entry is None:
        raise Failure("INVALID_INPUT", "the freezer list has no such deposit")
    return Strain(**json.loads(entry))
