from latchwork import Failure, step, tools

TRADE = {"type": "string", "pattern": "^[a-z-]{1,30}$"}
FIRM = {"type": "string", "pattern": "^[A-Za-z0-9 .&-]{1,60}$"}
INPUT = {
    "type": "object",
    "properties": {
        "site": {"type": "string", "pattern": "^S[0-9]{4}$"},
        "works": {
            "type": "array",
            "maxItems": 300,
            "items": {
                "type": "object",
                "properties": {
                    "trade": TRADE,
                    "firms": {"type": "array", "items": FIRM, "maxItems": 30},
                    "hours": {"type": "integer", "minimum": 1, "maximum": 5000},
                },
                "required": ["trade", "firms", "hours"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["site", "works"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "site": {"type": "string"},
        "asked": {"type": "integer"},
        "offers": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"firm": {"type": "string"}, "cents": {"type": "integer"}},
                "required": ["firm", "cents"],
            },
        },
    },
    "required": ["site", "asked", "offers"],
}


def offers_of(answer):
    """Returns the offers of an answer, the cheapest first."""
    offers = answer.get("offers") if isinstance(answer, dict) else None
    if not isinstance(offers, list):
        raise Failure("DEPENDENCY_UNAVAILABLE", "the portal sent no list of offers")
    found = []
    for offer in offers:
        firm, cents = (offer.get("firm"), offer.get("cents")) if isinstance(offer, dict) else (None, None)
        if not isinstance(firm, str) or not isinstance(cents, int) or not 0 <= cents < 10**12:
            raise Failure("DEPENDENCY_UNAVAILABLE", "the portal sent an offer without a price")
        found.append({"firm": firm, "cents": cents})
    return sorted(found, key=lambda offer: (offer["cents"], offer["firm"]))


@step("Quotes.Collect", input=INPUT, output=OUTPUT, determinism="external")
def collect(request: dict, context):
    """Asks the firms of all works of a site for their offers, each firm once."""
    firms = set()
    hours = 0
    for work in request["works"]:
        if not work["firms"]:
            raise Failure("INVALID_INPUT", f"no firm for {work['trade']}")
        firms.update(work["firms"])
        hours += work["hours"]
    if not firms:
        return {"site": request["site"], "asked": 0, "offers": []}
    answer = tools.call("Portal.Offers", {"site": request["site"], "hours": hours, "firms": list(firms)})
    return {"site": request["site"], "asked": len(firms), "offers": offers_of(answer)}
