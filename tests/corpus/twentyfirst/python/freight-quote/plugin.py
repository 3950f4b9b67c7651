from decimal import ROUND_HALF_UP, Decimal

from latchwork import Failure, config, tool

ZONES = ["domestic", "europe", "overseas"]
# Cents for each started kilogram, unless the configuration has other rates.
RATES = {"domestic": 90, "europe": 240, "overseas": 880}

SIDE = {"type": "integer", "minimum": 1, "maximum": 300}
QUOTE = {
    "type": "object",
    "properties": {
        "zone": {"enum": ZONES},
        "parcels": {
            "type": "array",
            "minItems": 1,
            "maxItems": 200,
            "items": {
                "type": "object",
                "properties": {
                    "grams": {"type": "integer", "minimum": 1, "maximum": 70_000},
                    "cm": {"type": "array", "items": SIDE, "minItems": 3, "maxItems": 3},
                },
                "required": ["grams", "cm"],
                "additionalProperties": False,
            },
        },
        "insured_cents": {"type": "integer", "minimum": 0, "maximum": 100_000_000},
    },
    "required": ["zone", "parcels"],
    "additionalProperties": False,
}
PRICE = {
    "type": "object",
    "properties": {
        "cents": {"type": "integer"},
        "kilograms": {"type": "integer"},
        "insurance_cents": {"type": "integer"},
    },
    "required": ["cents", "kilograms", "insurance_cents"],
    "additionalProperties": False,
}

# Kilograms of a parcel by its sides and grams: equal parcels of a shipment are computed once.
computed = {}


def kilograms(parcel):
    key = (parcel["grams"], *sorted(parcel["cm"]))
    if key not in computed:
        a, b, c = parcel["cm"]
        computed[key] = -(-max(parcel["grams"], a * b * c // 5) // 1000)
    return computed[key]


def rate(zone):
    """The rate of a zone in the configuration, which is a part of the plugin's entry."""
    rates = config.get("rates", {})
    cents = rates.get(zone, RATES[zone]) if isinstance(rates, dict) else None
    if not isinstance(cents, int) or not 0 < cents < 100_000:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the configured rate of {zone} is no number of cents")
    return cents


@tool("Freight.Quote", input=QUOTE, output=PRICE, effects=["read_only"], determinism="pure")
def quote(args, context):
    """Computes the freight of a shipment from its weight, its volume and the value that is insured."""
    oversized = [parcel for parcel in args["parcels"] if sum(parcel["cm"]) > 360]
    if oversized:
        raise Failure("INVALID_INPUT", f"{len(oversized)} parcels are larger than 360 cm")
    weight = sum(kilograms(parcel) for parcel in args["parcels"])
    share = Decimal(args.get("insured_cents", 0)) * Decimal("0.0035")
    insurance = int(share.quantize(Decimal(1), rounding=ROUND_HALF_UP))
    return {"cents": weight * rate(args["zone"]) + insurance, "kilograms": weight, "insurance_cents": insurance}
