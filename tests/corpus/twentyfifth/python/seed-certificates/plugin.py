import hashlib

from latchwork import Failure, step, tools

INPUT = {
    "type": "object",
    "properties": {
        "lot": {"type": "string", "pattern": "^[A-Z]{2}[0-9]{6}$"},
        "species": {"type": "string", "pattern": "^[a-z ]{1,40}$"},
        "sheet_sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "counted": {"type": "integer", "minimum": 1, "maximum": 10000},
        "sprouted": {"type": "integer", "minimum": 0, "maximum": 10000},
    },
    "required": ["lot", "species", "counted", "sprouted"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "lot": {"type": "string"},
        "permille": {"type": "integer"},
        "grade": {"enum": ["A", "B", "refused"]},
    },
    "required": ["lot", "permille", "grade"],
}


def limits_of(sheet, species):
    """Finds the limits of a species in the sheet of norms, which has lines such as `winter rye;850;700`."""
    for line in sheet.split("\n"):
        cells = [cell.strip() for cell in line.split(";")]
        if len(cells) == 3 and cells[0] == species and all(cell.isascii() and cell.isdigit() and len(cell) <= 4 for cell in cells[1:]):
            return int(cells[1]), int(cells[2])
    raise Failure("INVALID_INPUT", f"the norms have no limits of {species}")


@step("Seed.Certify", input=INPUT, output=OUTPUT)
def certify(lot: dict, context):
    """Grades a seed lot by the norms of its species."""
    if lot["sprouted"] > lot["counted"]:
        raise Failure("INVALID_INPUT", "more seeds sprouted than were counted")
    try:
        answer = tools.call("Norms.Fetch", {"species": lot["species"]})
    except Failure:
        raise Failure("DEPENDENCY_UNAVAILABLE", "the norms cannot be fetched") from None
    sheet = answer.get("sheet") if isinstance(answer, dict) else None
    if not isinstance(sheet, str):
        raise Failure("DEPENDENCY_UNAVAILABLE", "the norms cannot be fetched")
    # Lots of the new season carry the digest of the sheet that they were sown under.
    if "sheet_sha256" in lot and hashlib.sha256(sheet.encode()).hexdigest() != lot["sheet_sha256"]:
        raise Failure("POLICY_DENIED", "the norms are not those of the lot")
    best, least = limits_of(sheet, lot["species"])
    permille = lot["sprouted"] * 1000 // lot["counted"]
    grade = "A" if permille >= best else "B" if permille >= least else "refused"
    return {"lot": lot["lot"], "permille": permille, "grade": grade}
