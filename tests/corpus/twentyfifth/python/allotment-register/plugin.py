from latchwork import Change, Failure, Output, kv, tool

PLOT = {"type": "integer", "minimum": 1, "maximum": 999}
ASSIGN = {
    "type": "object",
    "properties": {"plot": PLOT, "gardener": {"type": "string", "pattern": "^G[0-9]{5}$"}},
    "required": ["plot", "gardener"],
    "additionalProperties": False,
}
ONE_PLOT = {"type": "object", "properties": {"plot": PLOT}, "required": ["plot"], "additionalProperties": False}
HELD = {
    "type": "object",
    "properties": {"plot": {"type": "integer"}, "gardener": {"type": "string"}},
    "required": ["plot", "gardener"],
}


def place(plot):
    return f"plot/{plot}"


def holder(plot):
    stored = kv.get(place(plot))
    return None if stored is None else stored.decode()


@tool("Plot.Assign", input=ASSIGN, output=HELD, effects=["internal_write"])
def assign(args: dict, context):
    """Writes the gardener of a plot into the register."""
    if args["plot"] >= 990:
        raise Failure("POLICY_DENIED", "the plots from 990 on belong to the club house")
    kv.set(place(args["plot"]), args["gardener"])
    change = Change("plot", str(args["plot"]), "assign", version=args["gardener"])
    return Output({"plot": args["plot"], "gardener": args["gardener"]}, changes=[change])


@assign.verify
def is_assigned(change):
    found = holder(change.resource_id)
    if found is None:
        return "the plot has no gardener"
    return True if found == change.version else f"the plot belongs to {found}"


@tool("Plot.Vacate", input=ONE_PLOT, output=ONE_PLOT, effects=["internal_write"])
def vacate(args: dict, context):
    """Takes the gardener of a plot out of the register."""
    if not kv.delete(place(args["plot"])):
        raise Failure("POLICY_DENIED", f"plot {args['plot']} has no gardener")
    change = Change("vacant plot", str(args["plot"]), "vacate")
    return Output({"plot": args["plot"]}, changes=[change])


@vacate.verify
def is_vacant(change):
    found = holder(change.resource_id)
    return True if found is None else f"the plot belongs to {found}"


@tool("Plot.Show", input=ONE_PLOT, output=HELD)
def show(args: dict, context):
    """Shows the gardener of a plot."""
    return {"plot": args["plot"], "gardener": holder(args["plot"]) or ""}
