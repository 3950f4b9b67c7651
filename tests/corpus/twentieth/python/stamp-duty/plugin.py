"""Computes the stamp duty of a sale from the bands of the administrator."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from latchwork import Failure, config, tool

HIGHEST_CENTS = 10**13
BANDS = [{"from_cents": 0, "percent": "0"}, {"from_cents": 25_000_000, "percent": "5"}]


@dataclass
class Sale:
    price_cents: int
    first_home: bool


@dataclass
class Part:
    from_cents: int
    percent: str
    duty_cents: int


@dataclass
class Duty:
    duty_cents: int
    parts: list[Part]


def bands():
    """Reads the bands: rising amounts, each with its percentage."""
    try:
        made = [(int(band["from_cents"]), Decimal(str(band["percent"]))) for band in config.get("bands", BANDS)]
    except (TypeError, KeyError, ValueError, InvalidOperation):
        raise Failure("MISSING_REQUIRED_CONTEXT", "the setting bands is no list of amounts and percentages") from None
    amounts = [amount for amount, _ in made]
    if not made or amounts[0] != 0 or sorted(set(amounts)) != amounts:
        raise Failure("MISSING_REQUIRED_CONTEXT", "the setting bands does not rise from 0")
    if not all(percent.is_finite() and 0 <= percent <= 100 for _, percent in made):
        raise Failure("MISSING_REQUIRED_CONTEXT", "the setting bands has a percentage that is out of range")
    return made


@tool("Duty.Compute", output=Duty, effects=["read_only"], determinism="pure")
def compute(sale: Sale, context):
    """Computes the stamp duty of a sale, band by band."""
    if not 0 < sale.price_cents <= HIGHEST_CENTS:
        raise Failure("INVALID_INPUT", f"the price {sale.price_cents} is out of range")
    steps = bands()
    # A first home pays nothing in the first band with a duty.
    free = next((at for at, (_, percent) in enumerate(steps) if percent > 0), None) if sale.first_home else None
    parts = []
    for at, (start, percent) in enumerate(steps):
        end = steps[at + 1][0] if at + 1 < len(steps) else sale.price_cents
        taxed = max(0, min(sale.price_cents, end) - start)
        rate = Decimal(0) if at == free else percent
        duty = (Decimal(taxed) * rate / 100).quantize(Decimal(1), rounding=ROUND_HALF_UP)
        parts.append(Part(start, str(rate), int(duty)))
    return Duty(sum(part.duty_cents for part in parts), parts)
