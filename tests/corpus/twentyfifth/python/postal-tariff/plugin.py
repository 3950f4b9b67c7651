from latchwork import Failure, config, tool

INPUT = {
    "type": "object",
    "properties": {
        "grams": {"type": "integer", "minimum": 1, "maximum": 50000},
        "zone": {"type": "string", "pattern": "^[a-z]{1,20}$"},
        "registered": {"type": "boolean"},
    },
    "required": ["grams", "zone"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {"cents": {"type": "integer"}, "up_to_grams": {"type": "integer"}, "tariff": {"type": "string"}},
    "required": ["cents", "up_to_grams", "tariff"],
    "additionalProperties": False,
}


def is_count(value, most):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def table(name):
    found = config.get(name)
    if not isinstance(found, dict):
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the configuration has no table {name}")
    return found


def steps_of(zone):
    """Returns pairs of grams and cents, the lightest first."""
    steps = table("zones").get(zone)
    if steps is None:
        raise Failure("INVALID_INPUT", f"there is no zone {zone}")
    is_right = isinstance(steps, list) and all(isinstance(one, list) and len(one) == 2 for one in steps)
    if not is_right or not all(is_count(grams, 10**6) and is_count(cents, 10**6) for grams, cents in steps):
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the steps of zone {zone} are not pairs of grams and cents")
    return sorted(steps)


@tool("Postage.Compute", input=INPUT, output=OUTPUT, determinism="pure")
def compute(args: dict, context):
    """Computes the postage of a parcel by the tariff in the configuration."""
    tariff = config.get("tariff", "standard")
    if not isinstance(tariff, str):
        raise Failure("MISSING_REQUIRED_CONTEXT", "the name of the tariff is not a text")
    for grams, cents in steps_of(args["zone"]):
        if args["grams"] <= grams:
            break
    else:
        raise Failure("INVALID_INPUT", f"{args['grams']} grams are too heavy for zone {args['zone']}")
    if args.get("registered", False):
        extra = table("extras").get("registered")
        if not is_count(extra, 10**6):
            raise Failure("MISSING_REQUIRED_CONTEXT", "the tariff has no price for registered mail")
        cents += extra
    print(f"{args['grams']} grams to zone {args['zone']}: {cents}")
    return {"cents": cents, "up_to_grams": grams, "tariff": tariff}
