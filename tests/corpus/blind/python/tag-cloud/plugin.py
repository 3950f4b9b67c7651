from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Articles:
    tags: list[list[str]]
    limit: int


@dataclass
class Tag:
    name: str
    size: int


@dataclass
class Cloud:
    tags: list[Tag]


@step("TagCloud.Make")
def make(articles: Articles, context) -> Cloud:
    """Makes the tag cloud of a magazine."""
    if articles.limit < 1:
        raise Failure("INVALID_INPUT", "the cloud needs room for a tag")
    names = {tag.strip().lower() for tags in articles.tags for tag in tags}
    names.discard("")

    def uses(name):
        return sum(any(tag.strip().lower() == name for tag in tags) for tags in articles.tags)

    most = max(map(uses, names), default=1)
    ranked = sorted(names, key=uses, reverse=True)
    return Cloud([Tag(name, 1 + 4 * uses(name) // most) for name in ranked[: articles.limit]])
