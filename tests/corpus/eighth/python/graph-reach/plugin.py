from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Pipe:
    source: str
    target: str


@dataclass
class Network:
    start: str
    pipes: list[Pipe]


@dataclass
class Reach:
    reached: list[str]
    used: int
    loops: int


@step("Network.Reach", determinism="pure")
def reach(network: Network, context) -> Reach:
    """Finds the places that water from a place reaches."""
    outgoing = {}
    for pipe in network.pipes:
        outgoing.setdefault(pipe.source, []).append(pipe)
    if network.start not in outgoing:
        raise Failure("INVALID_INPUT", f"no pipe begins at {network.start}")
    reached, seen, loops = {network.start}, set(), 0
    pending = [network.start]
    while pending:
        for pipe in outgoing.get(pending.pop(), ()):
            # Two pipes between the same places are two pipes, compared as objects.
            if id(pipe) in seen:
                continue
            seen.add(id(pipe))
            if pipe.target in reached:
                loops += 1
            else:
                reached.add(pipe.target)
                pending.append(pipe.target)
    return Reach(sorted(reached), len(seen), loops)
