"""Places of tubes in the freezer of a biobank. A tube keeps the place that its first entry gave it."""

import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool

SHELVES = {"plasma": "A", "serum": "B", "tissue": "C", "dna": "D"}


@dataclass
class Tube:
    barcode: str
    material: str
    rack: int
    position: int
    volume_ul: int
    donor: str = ""


@dataclass
class Stored:
    place: str
    label: str


def entry(key):
    return f"tube/{key}"


def label_of(tube):
    return f"{tube['barcode']} {tube['material']} {tube['volume_ul'] / 1000:.2f} ml"


def checked(tube):
    barcode = tube.barcode.strip().upper()
    if not barcode or len(barcode) > 40:
        raise Failure("INVALID_INPUT", "the barcode has to have 1 to 40 characters")
    if tube.material not in SHELVES:
        raise Failure("INVALID_INPUT", f"{tube.material} is not kept here")
    if not (1 <= tube.rack <= 40 and 1 <= tube.position <= 96):
        raise Failure("INVALID_INPUT", f"there is no place {tube.rack}/{tube.position}")
    if tube.volume_ul < 1 or len(tube.donor) > 60:
        raise Failure("INVALID_INPUT", "the volume or the donor cannot be kept")
    place = f"{SHELVES[tube.material]}{tube.rack:02}-{tube.position:02}"
    return {"barcode": barcode, "material": tube.material, "place": place, "volume_ul": tube.volume_ul, "donor": tube.donor}


# A biobank may ask again within a week, after a power cut for example.
@tool("Tube.Store", output=Stored, effects=["internal_write"], idempotent_by_key_seconds=7 * 24 * 3600)
def store(tube: Tube, context):
    """Enters a tube into the register of the freezer."""
    key = context.external_key
    wanted = checked(tube)
    kept = kv.get(entry(key))
    if kept is not None:
        # The tube is in its place already.
        known = json.loads(kept)
        return Stored(known["place"], label_of(known))
    text = json.dumps(wanted, sort_keys=True)
    kv.set(entry(key), text)
    return Output(
        Stored(wanted["place"], label_of(wanted)),
        changes=[Change("tube", entry(key), "create", version=text, external_ref=wanted["place"])],
    )


@store.verify
def check(change):
    kept = kv.get(change.resource_id)
    if kept is None:
        return "the tube is not in the register"
    return True if kept.decode() == change.version else f"the register has {kept.decode()[:200]}"
