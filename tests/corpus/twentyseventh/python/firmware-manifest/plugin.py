"""Reads the manifest of a firmware, which its SHA-256 in the input fixes."""

import hashlib
from dataclasses import dataclass

from latchwork import Failure, step, tools


@dataclass
class Release:
    path: str
    sha256: str
    board: str


@dataclass
class Image:
    name: str
    offset: int
    size: int


@dataclass
class Layout:
    board: str
    version: str
    images: list[Image]
    flash_bytes: int


def content(release):
    """Returns the manifest with exactly this digest. There is one error, whatever the store answers."""
    text = None
    try:
        answer = tools.call("Store.Read", {"path": release.path})
        if isinstance(answer, dict) and isinstance(answer.get("text"), str):
            text = answer["text"]
    except Failure:
        pass
    if text is None or hashlib.sha256(text.encode()).hexdigest() != release.sha256:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"{release.path} is not there with the SHA-256 {release.sha256}")
    return text


def parse(text):
    """Parses lines such as ``image boot 0x1000 0x4000``, ``board nova-2`` and ``version 1.4.2``."""
    boards, version, images = set(), "", []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "board" and len(words) == 2:
            boards.add(words[1])
        elif words[0] == "version" and len(words) == 2:
            version = words[1]
        elif words[0] == "image" and len(words) == 4:
            try:
                images.append(Image(words[1], int(words[2], 16), int(words[3], 16)))
            except ValueError:
                raise Failure("INVALID_INPUT", f"line {number} has a number that is not hexadecimal") from None
            if images[-1].offset < 0 or images[-1].size < 0:
                raise Failure("INVALID_INPUT", f"line {number} has a negative number")
        else:
            raise Failure("INVALID_INPUT", f"line {number} of the manifest cannot be read")
    return boards, version, images


@step("Firmware.Layout", determinism="pure")
def layout(release: Release, context) -> Layout:
    """Returns the layout of a firmware in the flash of a board."""
    boards, version, images = parse(content(release))
    if release.board not in boards:
        raise Failure("INVALID_INPUT", f"the firmware is for {', '.join(sorted(boards)) or 'no board'}")
    images.sort(key=lambda image: (image.offset, image.name))
    for first, second in zip(images, images[1:]):
        if first.offset + first.size > second.offset:
            raise Failure("INVALID_INPUT", f"{first.name} and {second.name} overlap")
    end = max((image.offset + image.size for image in images), default=0)
    if end > 2**32:
        raise Failure("INVALID_INPUT", "the images need more than 4 GiB")
    return Layout(release.board, version, images, end)
