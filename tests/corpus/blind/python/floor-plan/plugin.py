from latchwork import Failure, step


class Room:
    def __init__(self, name, x, y, width, depth):
        self.name, self.x, self.y, self.width, self.depth = name, x, y, width, depth

    def overlaps(self, other):
        apart = (
            self.x + self.width <= other.x
            or other.x + other.width <= self.x
            or self.y + self.depth <= other.y
            or other.y + other.depth <= self.y
        )
        return not apart


ROOM = {
    "type": "object",
    "properties": {key: {"type": "integer", "minimum": 0} for key in ("x", "y", "width", "depth")} | {"name": {"type": "string"}},
    "required": ["name", "x", "y", "width", "depth"],
    "additionalProperties": False,
}


@step(
    "FloorPlan.Measure",
    input={"type": "object", "properties": {"rooms": {"type": "array", "items": ROOM}}, "required": ["rooms"]},
    output={"type": "object", "properties": {"area": {"type": "integer"}}, "required": ["area"]},
)
def measure(plan, context):
    """Measures the area of the rooms of a floor."""
    placed = []
    for given in plan["rooms"]:
        room = Room(**given)
        for other in placed:
            if room.overlaps(other):
                raise Failure("INVALID_INPUT", f"{room.name} overlaps {other}")
        placed.append(room)
    return {"area": sum(room.width * room.depth for room in placed)}
