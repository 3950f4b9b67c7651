from dataclasses import dataclass

from latchwork import step


@dataclass
class Post:
    tags: list[str]


@dataclass
class Line:
    line: str
    count: int


@step("Post.Tags", determinism="pure")
def tags(post: Post, context) -> Line:
    """Writes the tags of a post in one line, each tag once."""
    unique = {tag.strip().lower() for tag in post.tags}
    unique.discard("")
    return Line(", ".join(f"#{tag}" for tag in unique), len(unique))
