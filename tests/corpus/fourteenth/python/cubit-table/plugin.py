"""Converts old measures of length with the table of an archive."""

import json
from dataclasses import dataclass

from latchwork import Failure, Output, kv, tool

TABLE = "table/lengths"


@dataclass
class Measure:
    name: str
    millimetres: float


@dataclass
class Table:
    archive: str
    measures: list[Measure]


@dataclass
class Loaded:
    archive: str
    measures: int


@dataclass
class Length:
    value: float
    measure: str


@dataclass
class Converted:
    metres: float
    text: str


@tool("Cubit.Load", output=Loaded, effects=["internal_write"])
def load(table: Table, context):
    """Loads the table of an archive. The new table takes the place of the old one."""
    if not 1 <= len(table.measures) <= 500:
        raise Failure("INVALID_INPUT", f"{table.archive} has {len(table.measures)} measures, not 1 to 500")
    sizes = {measure.name.lower(): measure.millimetres for measure in table.measures}
    if len(sizes) < len(table.measures):
        raise Failure("INVALID_INPUT", f"{table.archive} has a measure twice")
    if any(not 0 < size < 1e8 for size in sizes.values()):
        raise Failure("INVALID_INPUT", f"{table.archive} has a measure without a usable size")
    kv.set(TABLE, json.dumps({"archive": table.archive, "sizes": sizes}))
    return Output(Loaded(table.archive, len(sizes)), receipt={"measures": len(sizes)})


# The result is computed from the length and the table alone.
@tool("Cubit.Convert", determinism="pure")
def convert(length: Length, context) -> Converted:
    """Converts a length to metres."""
    kept = kv.get(TABLE)
    if kept is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", "no table is loaded")
    table = json.loads(kept)
    size = table["sizes"].get(length.measure.lower())
    if size is None:
        raise Failure("INVALID_INPUT", f"{table['archive']} has no measure {length.measure}")
    if not abs(length.value) <= 1e12:
        raise Failure("INVALID_INPUT", f"{length.value} is not a usable length")
    metres = round(length.value * size / 1000, 4)
    return Converted(metres, f"{length.value:g} {length.measure} = {metres:g} m ({table['archive']})")
