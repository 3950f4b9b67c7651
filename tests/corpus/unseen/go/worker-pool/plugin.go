package main

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"sync/atomic"

	"latchwork"
)

const workers = 4

type Image struct {
	Blocks []string `json:"blocks"`
}

type Hashes struct {
	Blocks []string `json:"blocks"`
	Bytes  int64    `json:"bytes"`
	Whole  string   `json:"whole"`
}

func init() {
	latchwork.Step("Image.Hash", latchwork.Spec{
		Description: "Hashes the blocks of an image side by side.",
		Determinism: latchwork.Pure,
	}, hash)
}

func hash(_ latchwork.Context, image Image) (Hashes, error) {
	made := Hashes{Blocks: make([]string, len(image.Blocks))}
	var bytes atomic.Int64
	var group sync.WaitGroup
	jobs := make(chan int)
	for range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for index := range jobs {
				sum := sha256.Sum256([]byte(image.Blocks[index]))
				made.Blocks[index] = hex.EncodeToString(sum[:])
				bytes.Add(int64(len(image.Blocks[index])))
			}
		}()
	}
	for index := range image.Blocks {
		jobs <- index
	}
	close(jobs)
	group.Wait()
	made.Bytes = bytes.Load()
	whole := sha256.New()
	for _, block := range made.Blocks {
		whole.Write([]byte(block))
	}
	made.Whole = hex.EncodeToString(whole.Sum(nil))
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
