from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Pipe:
    start: str
    end: str
    meters: int


@dataclass
class Spill:
    manhole: str
    pipes: list[Pipe]


@dataclass
class Trace:
    manholes: list[str]
    meters: int
    outfalls: list[str]


@step("Sewer.Trace")
def trace(spill: Spill, context) -> Trace:
    """Follows a spill downstream to the outfalls."""
    below = {}
    for pipe in spill.pipes:
        if pipe.meters < 0:
            raise Failure("INVALID_INPUT", f"the pipe from {pipe.start} has a negative length")
        below.setdefault(pipe.start, []).append(pipe)
    reached, outfalls = [], []
    seen = set()
    meters = 0

    def follow(manhole):
        nonlocal meters
        # Old parts of the network have loops.
        if manhole in seen:
            return
        seen.add(manhole)
        reached.append(manhole)
        if manhole not in below:
            outfalls.append(manhole)
        for pipe in below.get(manhole, []):
            meters += pipe.meters
            follow(pipe.end)

    follow(spill.manhole)
    return Trace(reached, meters, sorted(outfalls))
