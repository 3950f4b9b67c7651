package main

import (
	"log/slog"
	"strconv"

	"latchwork"
)

type Fill struct {
	Station string `json:"station"`
	Liters  int64  `json:"liters"`
	Cents   int64  `json:"cents"`
}

type Checked struct {
	Total   int64  `json:"total"`
	Warning string `json:"warning"`
}

func init() {
	latchwork.Tool("FuelCard.Check", latchwork.Spec{
		Description: "Checks a filling against the last known price of the station.",
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
	}, check)
}

func check(_ *latchwork.Invocation, fill Fill) (Checked, error) {
	if fill.Liters < 1 || fill.Liters > 1000 || fill.Cents < 1 || fill.Cents > 1000 {
		return Checked{}, latchwork.Fail(latchwork.InvalidInput, "a filling has 1 to 1000 liters at 1 to 1000 cents")
	}
	text, found, err := latchwork.KVGet("price/" + fill.Station)
	if err != nil {
		return Checked{}, err
	}
	made := Checked{Total: fill.Liters * fill.Cents}
	last, err := strconv.ParseInt(string(text), 10, 64)
	if found && err == nil && last != fill.Cents {
		if fill.Cents > last*2 {
			made.Warning = "the price has more than doubled"
		}
		// The next filling is compared with this one.
		if err := latchwork.KVSet("price/"+fill.Station, strconv.AppendInt(nil, fill.Cents, 10)); err != nil {
			slog.Warn("price not kept", "error", err)
		}
	}
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
