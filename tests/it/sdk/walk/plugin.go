package main

import (
	"fmt"
	"math/rand"
	"time"

	"latchwork"
)

type note struct {
	Text string `json:"text"`
}

type kept struct {
	Key string `json:"key"`
}

type walked struct {
	ID    string   `json:"id"`
	At    float64  `json:"at"`
	Dice  float64  `json:"dice"`
	Until float64  `json:"until"`
	Keys  []string `json:"keys"`
}

func now() float64 { return float64(time.Now().UnixMicro()) / 1e6 }

func walk(latchwork.Context, struct{}) (walked, error) {
	id, at := latchwork.UUID(), now()
	first, err := latchwork.Call[kept]("MadeJsTool.Keep", note{fmt.Sprintf("%s at %f", id, at)})
	if err != nil {
		return walked{}, err
	}
	if err := latchwork.Emit("halfway", map[string]string{"id": id}); err != nil {
		return walked{}, err
	}
	dice := rand.Float64()
	second, err := latchwork.Call[kept]("MadeJsTool.Keep", note{fmt.Sprintf("%f after %s", dice, first.Key)})
	return walked{id, at, dice, now(), []string{first.Key, second.Key}}, err
}

func init() {
	latchwork.Step("Walk.There", latchwork.Spec{Determinism: latchwork.Stable}, walk)
}

func main() {}
