from dataclasses import dataclass

from latchwork import Failure, step, tools


@dataclass
class Reel:
    file: str
    size: int


@dataclass
class Captions:
    captions: int
    longest: int
    seconds: float


READING_SPEED = 15  # characters in a second


@step("Newsreel.Captions")
def captions(reel: Reel, context) -> Captions:
    """Measures the captions of a newsreel: blocks of lines with an empty line between them."""
    text = tools.call("File.Read", {"path": reel.file})["text"]
    size = len(text.encode())
    if size != reel.size:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"{reel.file} has {size} bytes instead of {reel.size}: it is another version")

    blocks = [block.split("\n") for block in text.strip().split("\n\n") if block.strip()]
    if not blocks:
        raise Failure("INVALID_INPUT", f"{reel.file} has no captions")
    lengths = [sum(len(line.strip()) for line in block) for block in blocks]
    seconds = sum(max(1.0, length / READING_SPEED) for length in lengths)
    return Captions(len(blocks), max(lengths), round(seconds, 1))
