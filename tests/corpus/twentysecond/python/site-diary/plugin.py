import json

from latchwork import Change, Failure, Output, kv, tool

# Largest value of the map.
LARGEST = 65_536

REPORT = {
    "type": "object",
    "properties": {
        "site": {"type": "string", "minLength": 1, "maxLength": 60},
        "day": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
        "foreman": {"type": "string", "minLength": 1, "maxLength": 60},
        "workers": {"type": "integer", "minimum": 0, "maximum": 500},
        "text": {"type": "string", "minLength": 1, "maxLength": 80_000},
    },
    "required": ["site", "day", "foreman", "workers", "text"],
    "additionalProperties": False,
}

FILED = {
    "type": "object",
    "properties": {"page": {"type": "string"}, "workers": {"type": "integer"}},
    "required": ["page", "workers"],
    "additionalProperties": False,
}

PAGE = {
    "type": "object",
    "properties": {"page": {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}},
    "required": ["page"],
    "additionalProperties": False,
}

SHOWN = {
    "type": "object",
    "properties": {
        "title": {"type": ["string", "null"]},
        "workers": {"type": "integer"},
        "text": {"type": ["string", "null"]},
    },
    "required": ["title", "workers", "text"],
    "additionalProperties": False,
}


@tool("Diary.File", input=REPORT, output=FILED, effects=["internal_write"])
def file(report, context):
    """Files the page of a day in the diary of a building site."""
    if len(report["text"]) > LARGEST:
        raise Failure("INVALID_INPUT", "the text is too long for one page: split the report")
    page = context.external_key
    head = {"title": f"{report['site']}, {report['day']}", "foreman": report["foreman"], "workers": report["workers"]}
    kv.set(f"head/{page}", json.dumps(head))
    kv.set(f"text/{page}", report["text"])
    return Output(
        {"page": page, "workers": report["workers"]},
        receipt={"page": page, "title": head["title"]},
        changes=[Change("diary-page", page, "create")],
    )


@tool("Diary.Show", input=PAGE, output=SHOWN, effects=["read_only"])
def show(args, context):
    """Shows a page of the diary, such as for the monthly count of workers."""
    head = kv.get(f"head/{args['page']}")
    if head is None:
        return {"title": None, "workers": 0, "text": None}
    entry = json.loads(head)
    text = kv.get(f"text/{args['page']}")
    return {"title": entry["title"], "workers": entry["workers"], "text": None if text is None else text.decode()}
