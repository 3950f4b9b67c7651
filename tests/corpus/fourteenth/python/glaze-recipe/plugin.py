"""Computes the unity formula of a ceramic glaze from its raw materials."""

from dataclasses import dataclass

from latchwork import Failure, log, step, tools

# Molar masses in grams, and the oxides that flux a glaze.
MASSES = {"SiO2": 60.08, "Al2O3": 101.96, "CaO": 56.08, "Na2O": 61.98, "K2O": 94.2, "MgO": 40.3, "ZnO": 81.38, "B2O3": 69.62}
FLUXES = ("CaO", "Na2O", "K2O", "MgO", "ZnO")


@dataclass
class Part:
    material: str
    grams: float


@dataclass
class Recipe:
    name: str
    parts: list[Part]


@dataclass
class Oxide:
    oxide: str
    moles: float


@dataclass
class Formula:
    name: str
    grams: float
    oxides: list[Oxide]
    silica_to_alumina: float


@step("Glaze.Unity")
def unity(recipe: Recipe, context) -> Formula:
    """Computes the unity formula of a glaze."""
    if not recipe.parts or len(recipe.parts) > 30:
        raise Failure("INVALID_INPUT", f"{recipe.name} has {len(recipe.parts)} materials, not 1 to 30")
    if any(not 0 < part.grams <= 1_000_000 for part in recipe.parts):
        raise Failure("INVALID_INPUT", f"{recipe.name} has a part without a usable weight")
    log.info("glaze %s of job %s", recipe.name, context.job_id)
    # The analyses of the materials are a fixed table of the tool.
    answers = tools.call_all([("Material.Analyse", {"material": part.material}) for part in recipe.parts])
    moles = dict.fromkeys(MASSES, 0.0)
    for part, answer in zip(recipe.parts, answers):
        if isinstance(answer, Failure):
            raise Failure(answer.code, f"{recipe.name}: no analysis of {part.material}")
        for oxide, percent in answer["oxides"].items():
            if not 0 <= percent <= 100:
                raise Failure("INVALID_INPUT", f"{recipe.name}: {part.material} has no usable analysis")
            if oxide in moles:
                moles[oxide] += part.grams * percent / 100 / MASSES[oxide]
    flux = sum(moles[oxide] for oxide in FLUXES)
    if flux <= 0:
        raise Failure("INVALID_INPUT", f"{recipe.name} has no flux")
    if moles["Al2O3"] <= 0:
        raise Failure("INVALID_INPUT", f"{recipe.name} has no alumina")
    oxides = [Oxide(oxide, round(amount / flux, 3)) for oxide, amount in moles.items() if amount > 0]
    grams = round(sum(part.grams for part in recipe.parts), 2)
    return Formula(recipe.name, grams, oxides, round(moles["SiO2"] / moles["Al2O3"], 2))
