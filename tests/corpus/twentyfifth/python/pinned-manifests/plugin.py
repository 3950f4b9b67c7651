import hashlib
import re

from latchwork import Failure, step, tools

INPUT = {
    "type": "object",
    "properties": {
        "voyage": {"type": "string", "pattern": "^V[0-9]{5}$"},
        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "limit_kg": {"type": "integer", "minimum": 1, "maximum": 100000000},
    },
    "required": ["voyage", "sha256", "limit_kg"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "voyage": {"type": "string"},
        "containers": {"type": "integer"},
        "kg": {"type": "integer"},
        "over_kg": {"type": "integer"},
        "ports": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"port": {"type": "string"}, "kg": {"type": "integer"}},
                "required": ["port", "kg"],
            },
        },
    },
    "required": ["voyage", "containers", "kg", "over_kg", "ports"],
}
LINE = re.compile(r"([A-Z]{4}[0-9]{7});([A-Z]{5});([0-9]{1,6})")
LINES = 5000


def manifest_of(request):
    """Reads the manifest, and accepts only the one that the input names by its digest."""
    try:
        answer = tools.call("Manifest.Read", {"voyage": request["voyage"]})
    except Failure:
        raise Failure("DEPENDENCY_UNAVAILABLE", "the manifest cannot be read") from None
    content = answer.get("content") if isinstance(answer, dict) else None
    if not isinstance(content, str) or hashlib.sha256(content.encode()).hexdigest() != request["sha256"]:
        raise Failure("DEPENDENCY_UNAVAILABLE", "the manifest cannot be read")
    return content


@step("Voyage.Weigh", input=INPUT, output=OUTPUT)
def weigh(request: dict, context):
    """Adds up the weights of a manifest by port."""
    lines = [line for line in manifest_of(request).split("\n") if line]
    if len(lines) > LINES:
        raise Failure("INVALID_INPUT", f"the manifest has more than {LINES} lines")
    containers, ports = set(), {}
    for number, line in enumerate(lines, 1):
        match = LINE.fullmatch(line)
        if match is None:
            raise Failure("INVALID_INPUT", f"line {number} of the manifest is not clear", detail={"line": number})
        container, port, kg = match.groups()
        if container in containers:
            raise Failure("INVALID_INPUT", f"container {container} is listed twice", detail={"line": number})
        containers.add(container)
        ports[port] = ports.get(port, 0) + int(kg)
    total = sum(ports.values())
    return {
        "voyage": request["voyage"],
        "containers": len(containers),
        "kg": total,
        "over_kg": max(0, total - request["limit_kg"]),
        "ports": [{"port": port, "kg": ports[port]} for port in sorted(ports)],
    }
