import re

from latchwork import Failure, events, step

CATALOGUE = {
    "type": "object",
    "properties": {
        "house": {"type": "string", "pattern": "^[a-z]{2,20}$"},
        "sale": {"type": "integer", "minimum": 1, "maximum": 9999},
        "lots": {
            "type": "array",
            "maxItems": 400,
            "items": {
                "type": "object",
                "properties": {
                    "title": {"type": "string", "minLength": 1, "maxLength": 90},
                    "low": {"type": "integer", "minimum": 0, "maximum": 100_000_000},
                    "high": {"type": "integer", "minimum": 0, "maximum": 100_000_000},
                },
                "required": ["title", "low", "high"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["house", "sale", "lots"],
    "additionalProperties": False,
}

LISTED = {
    "type": "object",
    "properties": {
        "numbered": {"type": "array", "items": {"type": "object"}},
        "low_total": {"type": "integer"},
        "high_total": {"type": "integer"},
    },
    "required": ["numbered", "low_total", "high_total"],
    "additionalProperties": False,
}


def slug(title):
    """Returns the title as the website writes it in addresses: lower case, words joined by hyphens."""
    words = re.findall(r"\w+", title.lower())
    return "-".join(words) or "untitled"


@step("Auction.List", input=CATALOGUE, output=LISTED)
def list_lots(catalogue, context):
    """Numbers the lots of a sale and announces each of them to the website."""
    house, sale = catalogue["house"], catalogue["sale"]
    for lot in catalogue["lots"]:
        if lot["low"] > lot["high"]:
            raise Failure("INVALID_INPUT", f"the estimate of {lot['title']!r} is the wrong way round")

    numbered = []
    for number, lot in enumerate(catalogue["lots"], 1):
        entry = {"lot": f"{sale}/{number}", "title": lot["title"], "estimate": [lot["low"], lot["high"]]}
        # The website has one topic for each lot, and takes the topic from the name of the event.
        events.emit(f"lot.{house}.{sale}.{number}.{slug(lot['title'])}", entry)
        numbered.append(entry)

    print(f"{len(numbered)} lots in sale {sale}")
    return {
        "numbered": numbered,
        "low_total": sum(lot["low"] for lot in catalogue["lots"]),
        "high_total": sum(lot["high"] for lot in catalogue["lots"]),
    }
