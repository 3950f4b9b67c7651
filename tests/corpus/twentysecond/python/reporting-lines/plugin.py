from collections import deque

from latchwork import Failure, events, step

# A level of the chart is an object in a list, so 20 levels are 41 levels of JSON.
LEVELS = 20

PEOPLE = {
    "type": "object",
    "properties": {
        "people": {
            "type": "array",
            "minItems": 1,
            "maxItems": 500,
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "pattern": "^[a-z0-9]{1,16}$"},
                    "name": {"type": "string", "minLength": 1, "maxLength": 80},
                    "reports_to": {"type": "string", "pattern": "^[a-z0-9]{1,16}$"},
                    # Budgets of ministries can be larger than the integers that every language reads exactly.
                    "budget": {"type": "string", "pattern": "^[0-9]{1,30}$"},
                    "skills": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 20}},
                },
                "required": ["id", "name", "budget"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["people"],
    "additionalProperties": False,
}

CHART = {
    "type": "object",
    "properties": {
        "chart": {"type": "object"},
        "levels": {"type": "integer"},
        "budget": {"type": "string"},
        "skills": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["chart", "levels", "budget", "skills"],
    "additionalProperties": False,
}


@step("Lines.Chart", input=PEOPLE, output=CHART)
def chart(given, context):
    """Draws the chart of an office from the list of its people, with the sum of their budgets."""
    nodes, below, top = {}, {}, []
    for person in given["people"]:
        if person["id"] in nodes:
            raise Failure("INVALID_INPUT", f"{person['id']} is listed twice")
        nodes[person["id"]] = {"id": person["id"], "name": person["name"], "team": []}
        if "reports_to" in person:
            below.setdefault(person["reports_to"], []).append(person["id"])
        else:
            top.append(person["id"])
    if len(top) != 1:
        raise Failure("INVALID_INPUT", f"an office has one head, the list has {len(top)}")
    unknown = sorted(below.keys() - nodes.keys())
    if unknown:
        raise Failure("INVALID_INPUT", f"{unknown[0]} is not in the list")

    # The pending people are in a queue, so the depth of the office needs no depth of the stack.
    waiting, seen, levels = deque([(top[0], 1)]), 0, 0
    while waiting:
        one, level = waiting.popleft()
        if level > LEVELS:
            raise Failure("INVALID_INPUT", f"the office has more than {LEVELS} levels at {one}")
        seen, levels = seen + 1, max(levels, level)
        for other in below.get(one, []):
            nodes[one]["team"].append(nodes[other])
            waiting.append((other, level + 1))
    if seen != len(nodes):
        raise Failure("INVALID_INPUT", f"{len(nodes) - seen} people report to each other")

    skills = sorted({skill.strip() for person in given["people"] for skill in person.get("skills", [])} - {""})
    budget = str(sum(int(person["budget"]) for person in given["people"]))
    events.emit("chart-drawn", {"people": seen, "levels": levels})
    return {"chart": nodes[top[0]], "levels": levels, "budget": budget, "skills": skills}
