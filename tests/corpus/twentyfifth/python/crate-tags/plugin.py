from latchwork import Failure, step

INPUT = {
    "type": "object",
    "properties": {
        "lorry": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{1,4}$"},
        "room_litres": {"type": "integer", "minimum": 1, "maximum": 100000},
        "crates": {
            "type": "array",
            "maxItems": 400,
            "items": {
                "type": "object",
                "properties": {
                    "goods": {"type": "string", "minLength": 1, "maxLength": 60},
                    "litres": {"type": "integer", "minimum": 1, "maximum": 2000},
                    "fragile": {"type": "boolean"},
                },
                "required": ["goods", "litres", "fragile"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["lorry", "room_litres", "crates"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "lorry": {"type": "string"},
        "loaded": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"tag": {"type": "string"}, "goods": {"type": "string"}, "layer": {"type": "integer"}},
                "required": ["tag", "goods", "layer"],
            },
        },
        "left": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["lorry", "loaded", "left"],
}
LAYER = 2500


class Crate:
    """A crate on the ramp."""

    def __init__(self, goods, litres, fragile):
        self.goods, self.litres, self.fragile = goods, litres, fragile

    @property
    def tag(self):
        # Two crates may hold the same goods, and each of them needs a tag of its own.
        return f"{'F' if self.fragile else 'N'}{id(self):x}"


@step("Lorry.Load", input=INPUT, output=OUTPUT)
def load(request: dict, context):
    """Loads crates onto a lorry, the heavy ones first and the fragile ones on top."""
    crates = [Crate(one["goods"], one["litres"], one["fragile"]) for one in request["crates"]]
    largest = max((crate.litres for crate in crates), default=0)
    if largest > request["room_litres"]:
        raise Failure("INVALID_INPUT", f"a crate of {largest} litres does not fit the lorry")
    crates.sort(key=lambda crate: (crate.fragile, -crate.litres, crate.goods))
    loaded, left, used = [], [], 0
    for crate in crates:
        if used + crate.litres > request["room_litres"]:
            left.append(crate.goods)
            continue
        loaded.append({"tag": crate.tag, "goods": crate.goods, "layer": used // LAYER + 1})
        used += crate.litres
    print(f"{request['lorry']}: {len(loaded)} crates, {used} litres")
    return {"lorry": request["lorry"], "loaded": loaded, "left": left}
