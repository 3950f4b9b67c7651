"""Stacks boxes on pallets, the largest box first."""

from dataclasses import dataclass

from latchwork import Failure, step

PALLET_WIDTH = 120


@dataclass
class Load:
    boxes: list[dict]


@dataclass
class Stack:
    pallets: list[list[str]]


class Box:
    """A box with the side that it lies on."""

    __slots__ = ("label", "side", "height")

    def __init__(self, label, width, length, height):
        self.label, self.side, self.height = label, max(width, length), height


class Pallet:
    def __init__(self):
        self.boxes, self.height = [], 0

    def put(self, box):
        if box.side > PALLET_WIDTH:
            raise Failure("INVALID_INPUT", f"{box} does not fit a pallet of {PALLET_WIDTH} cm")
        self.boxes.append(box.label)
        self.height += box.height


@step("Pallet.Stack")
def stack(load: Load, context) -> Stack:
    """Stacks boxes on pallets."""
    try:
        sides = ("width", "length", "height")
        boxes = [Box(str(one["label"]), *(int(one[side]) for side in sides)) for one in load.boxes]
    except (KeyError, TypeError, ValueError) as error:
        raise Failure("INVALID_INPUT", "a box has no label or no sides") from error
    pallets = []
    for box in sorted(boxes, key=lambda box: (-box.side, box.label)):
        free = next((pallet for pallet in pallets if pallet.height + box.height <= 180), None)
        if free is None:
            free = Pallet()
            pallets.append(free)
        free.put(box)
    return Stack([pallet.boxes for pallet in pallets])
