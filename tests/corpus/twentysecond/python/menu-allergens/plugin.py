from dataclasses import dataclass

from latchwork import Failure, step, tools

# Codes of the list that hangs in the canteen.
CODES = {
    "gluten": "A", "crustaceans": "B", "egg": "C", "fish": "D", "peanut": "E", "soy": "F", "milk": "G", "nuts": "H",
    "celery": "L", "mustard": "M", "sesame": "N", "sulphite": "O", "lupin": "P", "molluscs": "R",
}

MENU = {
    "type": "object",
    "properties": {
        "day": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
        "dishes": {
            "type": "array",
            "minItems": 1,
            "maxItems": 40,
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "minLength": 1, "maxLength": 80},
                    "contains": {"type": "array", "maxItems": 30, "items": {"type": "string", "maxLength": 30}},
                },
                "required": ["name", "contains"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["day", "dishes"],
    "additionalProperties": False,
}


@dataclass
class Card:
    day: str
    lines: list[str]
    sheet: str


@step("Menu.Label", input=MENU, effects=["external_write"], determinism="external")
def label(menu, context) -> Card:
    """Labels the dishes of a day with their allergens and orders the printed sheet of the day."""
    lines, of_the_day = [], set()
    for dish in menu["dishes"]:
        found = {name.strip().lower() for name in dish["contains"]}
        unknown = sorted(found - CODES.keys())
        if unknown:
            raise Failure("INVALID_INPUT", f"{dish['name']}: no code for {', '.join(unknown)}")
        of_the_day |= found
        codes = ",".join(sorted(CODES[name] for name in found))
        lines.append(f"{dish['name']} ({codes})" if codes else dish["name"])

    # The sheet explains only the allergens of this day.
    legend = [{"code": CODES[name], "name": name} for name in of_the_day]
    answer = tools.call("Print.Order", {"title": f"Menu of {menu['day']}", "lines": lines, "legend": legend})
    return Card(menu["day"], lines, str(answer.get("order", "")) if isinstance(answer, dict) else "")
