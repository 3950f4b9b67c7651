"""Finds the connected parts of a tramway network."""

from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Segment:
    start: str
    end: str
    metres: int


@dataclass
class Network:
    segments: list[Segment]


@dataclass
class Cluster:
    stops: list[str]
    metres: int


@dataclass
class Clusters:
    clusters: list[Cluster]
    largest: int


def root(parent, stop):
    """Returns the stop that stands for the part of a stop."""
    if parent[stop] != stop:
        parent[stop] = root(parent, parent[stop])
    return parent[stop]


def joined(segments):
    """Joins the ends of each segment. Returns the parent of each stop."""
    parent = {}
    for segment in segments:
        parent.setdefault(segment.start, segment.start)
        parent.setdefault(segment.end, segment.end)
        parent[root(parent, segment.start)] = root(parent, segment.end)
    return parent


def check(segments):
    if not segments:
        raise Failure("INVALID_INPUT", "the network has no segment")
    for segment in segments:
        if segment.start == segment.end:
            raise Failure("INVALID_INPUT", f"the segment at {segment.start} ends where it starts")
        if segment.metres <= 0:
            raise Failure("INVALID_INPUT", f"the segment {segment.start} to {segment.end} has no length")


@step("Tramway.Cluster")
def cluster(network: Network, context) -> Clusters:
    """Groups the stops of a tramway network by the parts that a tram can reach."""
    check(network.segments)
    parent = joined(network.segments)
    stops, metres = {}, {}
    for stop in parent:
        stops.setdefault(root(parent, stop), []).append(stop)
    for segment in network.segments:
        part = root(parent, segment.start)
        metres[part] = metres.get(part, 0) + segment.metres
    clusters = [Cluster(sorted(names), metres[part]) for part, names in stops.items()]
    clusters.sort(key=lambda one: (-len(one.stops), one.stops[0]))
    return Clusters(clusters, len(clusters[0].stops))
