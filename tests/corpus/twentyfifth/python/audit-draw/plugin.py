import hashlib
import random
from functools import lru_cache

from latchwork import Failure, log, step

INPUT = {
    "type": "object",
    "properties": {
        "seed": {"type": "string", "minLength": 1, "maxLength": 100},
        "size": {"type": "integer", "minimum": 1, "maximum": 100},
        "invoices": {
            "type": "array",
            "maxItems": 1000,
            "items": {
                "type": "object",
                "properties": {
                    "number": {"type": "string", "pattern": "^[A-Z0-9-]{1,20}$"},
                    "supplier": {"type": "string", "minLength": 1, "maxLength": 60},
                    "cents": {"type": "integer", "minimum": 0, "maximum": 100000000000},
                },
                "required": ["number", "supplier", "cents"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["seed", "size", "invoices"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "drawn": {"type": "array", "items": {"type": "string"}},
        "always": {"type": "array", "items": {"type": "string"}},
        "suppliers": {"type": "array", "items": {"type": "string"}},
        "stamp": {"type": "string"},
    },
    "required": ["drawn", "always", "suppliers", "stamp"],
}
# Invoices from this amount on are always audited.
LARGE = 5_000_000


@lru_cache(maxsize=None)
def is_spelled_well(supplier):
    return supplier == supplier.strip() and supplier.isprintable()


@step("Audit.Draw", input=INPUT, output=OUTPUT)
def draw(request: dict, context):
    """Draws the invoices of an audit by lot. The seed is published before, so that all can repeat the draw."""
    invoices = request["invoices"]
    numbers = {invoice["number"] for invoice in invoices}
    if len(numbers) < len(invoices):
        raise Failure("INVALID_INPUT", "an invoice is listed twice")
    unclear = {invoice["supplier"] for invoice in invoices if not is_spelled_well(invoice["supplier"])}
    if unclear:
        raise Failure("INVALID_INPUT", "names of suppliers are not clear", detail={"suppliers": sorted(unclear)})
    always = {invoice["number"] for invoice in invoices if invoice["cents"] >= LARGE}
    rest = sorted(numbers - always)
    lot = random.Random(request["seed"])
    drawn = lot.sample(rest, min(request["size"], len(rest)))
    chosen = always.union(drawn)
    suppliers = sorted({invoice["supplier"] for invoice in invoices if invoice["number"] in chosen})
    stamp = hashlib.sha256("\n".join([request["seed"], *sorted(chosen)]).encode()).hexdigest()[:16]
    log.info("%d of %d invoices", len(chosen), len(invoices))
    return {"drawn": drawn, "always": sorted(always), "suppliers": suppliers, "stamp": stamp}
