from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from latchwork import Failure, config, tool

LETTER = {
    "type": "object",
    "properties": {
        "grams": {"type": "integer", "minimum": 1, "maximum": 30_000},
        "copies": {"type": "integer", "minimum": 1, "maximum": 1_000_000},
        "abroad": {"type": "boolean"},
        "discount": {"type": "string", "pattern": "^(0|[1-9][0-9]?)(\\.[0-9]{1,2})?$"},
    },
    "required": ["grams", "copies"],
    "additionalProperties": False,
}

PRICE = {
    "type": "object",
    "properties": {
        "letter_cents": {"type": "integer"},
        "total_cents": {"type": "integer"},
        "class": {"type": "string"},
    },
    "required": ["letter_cents", "total_cents", "class"],
    "additionalProperties": False,
}


def table():
    """Returns the rows of the price table, lightest letter first: (grams, cents, name)."""
    rows = config.get("postage")
    if rows is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", "the config has no table `postage`")
    if not isinstance(rows, list) or not rows:
        raise Failure("MISSING_REQUIRED_CONTEXT", "the table `postage` has no rows")
    checked = []
    for number, row in enumerate(rows, 1):
        grams, cents, name = (row.get(key) for key in ("grams", "cents", "class")) if isinstance(row, dict) else (None,) * 3
        fits = type(grams) is int and type(cents) is int and isinstance(name, str)
        if not fits or not 1 <= grams <= 100_000 or not 1 <= cents <= 1_000_000:
            raise Failure("MISSING_REQUIRED_CONTEXT", f"row {number} of the table `postage` is not usable")
        checked.append((grams, cents, name))
    return sorted(checked)


def surcharge():
    """Returns the factor for letters to other countries."""
    text = config.get("abroad_factor", "1")
    try:
        factor = Decimal(text) if isinstance(text, str) else None
    except InvalidOperation:
        factor = None
    if factor is None or not factor.is_finite() or not 1 <= factor <= 20:
        raise Failure("MISSING_REQUIRED_CONTEXT", "`abroad_factor` of the config is no number from 1 to 20, in quotes")
    return factor


# Pure: the answer follows from the arguments and the config of the entry.
@tool("Postage.Price", input=LETTER, output=PRICE, determinism="pure", effects=["read_only"])
def price(letter, context):
    """Computes the postage of a mailing from the price table of the office."""
    for grams, cents, name in table():
        if letter["grams"] <= grams:
            break
    else:
        raise Failure("INVALID_INPUT", f"a letter of {letter['grams']} g is too heavy for the table")
    each = Decimal(cents)
    if letter.get("abroad", False):
        each *= surcharge()
    # The post office rounds the price of one letter first, then the discount of the whole mailing.
    each = each.quantize(Decimal(1), ROUND_HALF_UP)
    whole = each * letter["copies"]
    whole -= whole * Decimal(letter.get("discount", "0")) / 100
    return {"letter_cents": int(each), "total_cents": int(whole.quantize(Decimal(1), ROUND_HALF_UP)), "class": name}
