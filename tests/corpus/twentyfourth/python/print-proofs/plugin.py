"""Estimates the pages of a manuscript for the printer's offer. The manuscript lies in the archive of the publisher."""

from latchwork import Failure, step, tools

INPUT = {
    "type": "object",
    "properties": {
        "file": {"type": "string", "minLength": 1, "maxLength": 200},
        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "bytes": {"type": "integer", "minimum": 1, "maximum": 500000},
        "lines_per_page": {"type": "integer", "minimum": 10, "maximum": 80},
    },
    "required": ["file", "sha256", "bytes", "lines_per_page"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "sha256": {"type": "string"},
        "words": {"type": "integer"},
        "chapters": {"type": "integer"},
        "pages": {"type": "integer"},
    },
    "required": ["sha256", "words", "chapters", "pages"],
    "additionalProperties": False,
}
# Characters on a line of the printer's usual type.
LINE = 62


def lines_of(paragraph):
    """Number of printed lines of a paragraph. A blank paragraph is one empty line."""
    return max(1, -(-len(paragraph) // LINE))


@step("Proof.Estimate", input=INPUT, output=OUTPUT)
def estimate(order, context):
    """Estimates words, chapters and pages of one edition of a manuscript."""
    answer = tools.call("Archive.Read", {"file": order["file"], "sha256": order["sha256"]})
    text = answer.get("text") if isinstance(answer, dict) else None
    # An order is for exactly one edition of the manuscript.
    if not isinstance(text, str) or len(text.encode()) != order["bytes"]:
        raise Failure("POLICY_DENIED", f"the archive holds another edition of {order['file']}")
    paragraphs = text.split("\n")
    lines = sum(lines_of(paragraph) for paragraph in paragraphs)
    chapters = sum(1 for paragraph in paragraphs if paragraph.startswith("# "))
    pages = -(-lines // int(order["lines_per_page"]))
    return {"sha256": order["sha256"], "words": len(text.split()), "chapters": chapters, "pages": pages}
