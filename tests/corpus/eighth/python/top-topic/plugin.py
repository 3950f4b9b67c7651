import re
from dataclasses import dataclass

from latchwork import Failure, step

STOP = frozenset("a an and are at be by for from in is it of on or that the this to was with".split())


@dataclass
class Posts:
    posts: list[str]


@dataclass
class Topic:
    word: str
    mentions: int
    posts: int


def words_of(text):
    return [word for word in re.findall(r"[a-z]{3,}", text.lower()) if word not in STOP]


@step("Topic.Find", determinism="pure")
def find(posts: Posts, context) -> Topic:
    """Finds the word that most of the posts are about."""
    words = [word for post in posts.posts for word in words_of(post)]
    if not words:
        raise Failure("INVALID_INPUT", "the posts have no words")
    top = max(set(words), key=words.count)
    return Topic(top, words.count(top), sum(top in words_of(post) for post in posts.posts))
