"""Writes a brief of the market: the last price of each product. A product without a price is listed as well."""

from dataclasses import dataclass

from latchwork import Failure, log, step, tools


@dataclass
class Request:
    products: list[str]


@dataclass
class Line:
    product: str
    price: float


@dataclass
class Brief:
    lines: list[Line]
    missing: int


@step("Market.Brief", determinism="external")
def brief(request: Request, context) -> Brief:
    """Writes a brief of the market."""
    if not request.products:
        raise Failure("INVALID_INPUT", "no product is given")
    answers = tools.call_all([("Price.Last", {"product": product}) for product in request.products])
    lines = []
    for product, answer in zip(request.products, answers):
        if isinstance(answer, Failure):
            log.warn("no price of %s: %s", product, answer.message)
            lines.append(Line(product, None))
        else:
            lines.append(Line(product, float(answer["price"])))
    return Brief(lines, sum(line.price is None for line in lines))
