import json

from latchwork import Change, Failure, Output, kv, tool

INPUT = {
    "type": "object",
    "properties": {
        "article": {"type": "string", "minLength": 1, "maxLength": 200},
        "line": {"type": "string", "pattern": "^[A-Z]?[0-9]{1,3}$"},
        "finder": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1, "maxLength": 100},
                "phone": {"type": "string", "pattern": "^[0-9 +]{3,30}$"},
            },
            "required": ["name", "phone"],
            "additionalProperties": False,
        },
    },
    "required": ["article", "line"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {"found": {"type": "string"}, "reward": {"type": "boolean"}},
    "required": ["found", "reward"],
}
KEY = {
    "type": "object",
    "properties": {"found": {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}},
    "required": ["found"],
    "additionalProperties": False,
}


def shelf(key):
    return f"article/{key}"


def card(key):
    return f"finder/{key}"


def text_of(args):
    return json.dumps({"article": args["article"], "line": args["line"]}, ensure_ascii=False, sort_keys=True)


@tool("Found.Register", input=INPUT, output=OUTPUT, effects=["internal_write"])
def register(args: dict, context):
    """Registers an article that was found in a vehicle, with the card of its finder."""
    if args["line"].startswith("X"):
        raise Failure("POLICY_DENIED", "lines with an X belong to another company")
    key = context.external_key
    finder = args.get("finder")
    # The card comes first, so that each article on the shelf has one.
    if finder is not None:
        kv.set(card(key), json.dumps(finder, ensure_ascii=False))
    kv.set(shelf(key), text_of(args))
    return Output({"found": key, "reward": finder is not None}, changes=[Change("article", key, "create")])


@register.compensate
def take_off(args: dict, result, key):
    stored = kv.get(shelf(key))
    if stored is None:
        raise Failure("POLICY_DENIED", "the article is not on the shelf", applied="no")
    if stored.decode() != text_of(args):
        raise Failure("POLICY_DENIED", "the article was described anew", applied="no")
    if not kv.delete(shelf(key)):
        raise Failure("POLICY_DENIED", "the article is not on the shelf", applied="no")
    return Output(None, changes=[Change("article", key, "delete")])


@tool("Found.Show", input=KEY, output={"type": "object", "properties": {"article": {"type": "string"}}, "required": ["article"]})
def show(args: dict, context):
    """Shows an article on the shelf."""
    stored = kv.get(shelf(args["found"]))
    return {"article": "" if stored is None else json.loads(stored)["article"]}


@tool("Found.Finder", input=KEY, output={"type": "object", "properties": {"phone": {"type": "string"}}, "required": ["phone"]})
def finder_of(args: dict, context):
    """Gives the telephone number of a finder."""
    stored = kv.get(card(args["found"]))
    return {"phone": "" if stored is None else json.loads(stored)["phone"]}
