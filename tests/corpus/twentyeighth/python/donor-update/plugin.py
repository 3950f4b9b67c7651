"""Takes the changed addresses of donors over into the register of a charity, and notes what needs a person."""

from dataclasses import dataclass

from latchwork import Failure, log, step, tools


@dataclass
class Address:
    donor: str
    street: str
    town: str
    version: int


@dataclass
class Batch:
    batch: str
    addresses: list[Address]


@dataclass
class Report:
    batch: str
    updated: list[str]
    noted: list[str]


def key(batch, address):
    return f"{len(batch)}:{batch}/{address.donor}"


def update(batch, address):
    """Changes an address in the register. Returns False if the register has a newer one."""
    args = {"donor": address.donor, "street": address.street, "town": address.town, "version": address.version}
    try:
        tools.call("Register.UpdateAddress", args, action_key=key(batch, address))
        return True
    except Failure as failure:
        if failure.code != "INVALID_INPUT":
            raise
        log.info("%s has a newer address", address.donor)
        return False


def note(batch, address):
    """Leaves a note for the office. The note is a line in the charity's own map."""
    text = f"{address.donor} moved to {address.street}, {address.town}; the register has a newer address"
    tools.call("Office.AddNote", {"batch": batch, "donor": address.donor, "text": text}, action_key=key(batch, address))


# The register belongs to the association of charities: its changes are external writes, the widest effect of this step.
@step("Donors.TakeOver", effects=["external_write"], determinism="external")
def take_over(batch: Batch, context) -> Report:
    """Takes a batch of changed addresses over into the register."""
    donors = [address.donor for address in batch.addresses]
    for donor in donors:
        if donors.count(donor) > 1:
            raise Failure("INVALID_INPUT", f"{donor} is in the batch twice")
    updated, noted = [], []
    for address in batch.addresses:
        if update(batch.batch, address):
            updated.append(address.donor)
        else:
            note(batch.batch, address)
            noted.append(address.donor)
    return Report(batch.batch, updated, noted)
