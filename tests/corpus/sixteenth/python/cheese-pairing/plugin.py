"""Finds the cheese of a board that goes best with a drink."""

import math
from dataclasses import dataclass

from latchwork import Failure, step

MAX_CHEESES = 200
MAX_TASTES = 60


@dataclass
class Food:
    name: str
    # Strength of each taste, from 0 to 10.
    tastes: dict[str, float]


@dataclass
class Board:
    drink: Food
    cheeses: list[Food]


@dataclass
class Match:
    cheese: str
    score: float
    because: list[str]


@dataclass
class Pairing:
    best: Match
    others: list[str]
    tastes: list[str]


@step("Cheese.Pair")
def pair(board: Board, context) -> Pairing:
    """Ranks the cheeses of a board by the tastes that they share with a drink."""
    if not board.cheeses or len(board.cheeses) > MAX_CHEESES:
        raise Failure("INVALID_INPUT", f"a board has 1 to {MAX_CHEESES} cheeses")
    foods = [board.drink, *board.cheeses]
    for food in foods:
        checked(food)
    cheeses = {cheese.name: cheese for cheese in board.cheeses}
    if len(cheeses) < len(board.cheeses):
        raise Failure("INVALID_INPUT", "two cheeses have the same name")
    scores = {name: score(board.drink, cheese) for name, cheese in cheeses.items()}
    ranked = sorted(cheeses.keys() & scores.keys(), key=lambda name: (-scores[name], name))
    best = cheeses[ranked[0]]
    shared = board.drink.tastes.keys() & best.tastes.keys()
    because = sorted(shared, key=lambda taste: (-board.drink.tastes[taste] * best.tastes[taste], taste))
    tastes = {taste for food in foods for taste in food.tastes}
    print(f"{best.name} for {board.drink.name}, of {len(ranked)} cheeses")
    return Pairing(Match(best.name, scores[best.name], because[:3]), ranked[1:4], sorted(tastes))


def checked(food):
    if len(food.tastes) > MAX_TASTES:
        raise Failure("INVALID_INPUT", f"{food.name} has more than {MAX_TASTES} tastes")
    for taste, strength in sorted(food.tastes.items()):
        if not 0 <= strength <= 10:
            raise Failure("INVALID_INPUT", f"the strength of {taste} in {food.name} is not from 0 to 10")


def score(drink, cheese):
    """Adds the products of the shared tastes, less a tenth of each taste that only one of the two has."""
    shared = drink.tastes.keys() & cheese.tastes.keys()
    alone = drink.tastes.keys() ^ cheese.tastes.keys()
    gains = {taste: drink.tastes[taste] * cheese.tastes[taste] for taste in shared}
    losses = {taste: -0.1 * max(drink.tastes.get(taste, 0), cheese.tastes.get(taste, 0)) for taste in alone}
    return math.fsum({**gains, **losses}.values())
