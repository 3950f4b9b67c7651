// Command herb-batch registers the batches of dried herbs that a farm packs.
package main

import (
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

type Batch struct {
	Herb  string `json:"herb"`
	Field string `json:"field"`
	Grams int    `json:"grams"`
	Jars  int    `json:"jars"`
}

type Registered struct {
	Number string `json:"number"`
	Jars   int    `json:"jars"`
}

type Number struct {
	Number string `json:"number"`
}

func init() {
	latchwork.Tool("Herb.Register", latchwork.Spec{
		Description:     "Registers a batch of dried herbs under a number with the day of packing.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 72 * time.Hour,
	}, register)
	latchwork.Tool("Herb.Trace", latchwork.Spec{
		Description: "Finds the herb and the field of a batch.",
	}, trace)
}

// number returns the number of the batch: the day, and the key of the call.
func number(call *latchwork.Invocation) string {
	return time.Now().UTC().Format("2006-01-02") + "/" + call.ExternalKey
}

func register(call *latchwork.Invocation, batch Batch) (Registered, error) {
	herb := strings.ToLower(strings.TrimSpace(batch.Herb))
	if herb == "" || len(herb) > 100 || batch.Field == "" || len(batch.Field) > 100 {
		return Registered{}, latchwork.Fail(latchwork.InvalidInput, "the herb or the field is missing or too long")
	}
	if batch.Grams <= 0 || batch.Jars <= 0 || batch.Jars > 10_000 {
		return Registered{}, latchwork.Fail(latchwork.InvalidInput, "a batch has grams, and 1 to 10000 jars")
	}
	value, err := json.Marshal(Batch{herb, batch.Field, batch.Grams, batch.Jars})
	if err != nil {
		return Registered{}, err
	}
	name := number(call)
	if err := latchwork.KVSet("batch/"+name, value); err != nil {
		return Registered{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "batch", ResourceID: name, Operation: "create"})
	return Registered{name, batch.Jars}, nil
}

func trace(_ *latchwork.Invocation, args Number) (Batch, error) {
	value, found, err := latchwork.KVGet("batch/" + args.Number)
	if err != nil {
		return Batch{}, err
	}
	if !found {
		return Batch{}, latchwork.Fail(latchwork.MissingRequiredContext, "there is no batch %s", args.Number)
	}
	var batch Batch
	if err := json.Unmarshal(value, &batch); err != nil {
		return Batch{}, latchwork.Fail(latchwork.SchemaValidationFailed, "batch %s cannot be read", args.Number)
	}
	return batch, nil
}

// main is empty: the host calls the operators.
func main() {}
