package main

import (
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"latchwork"
)

// The book of prints has a fixed number of pages, so that it never fills the map.
const pages = 16

type Print struct {
	Document string `json:"document"`
	Copies   int    `json:"copies"`
}

type Queued struct {
	Page string `json:"page"`
}

func init() {
	latchwork.Tool("Print.Queue", latchwork.Spec{
		Description:     "Puts a document into the book of prints, once for each call.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 7 * 24 * time.Hour,
	}, queue)
}

func queue(call *latchwork.Invocation, print Print) (Queued, error) {
	if print.Document == "" || print.Copies < 1 {
		return Queued{}, latchwork.Fail(latchwork.InvalidInput, "a document and a number of copies are required")
	}
	page := fmt.Sprintf("page:%02d", crc32.ChecksumIEEE([]byte(call.ExternalKey))%pages)
	entry, found, err := latchwork.KVGet(page)
	if err != nil {
		return Queued{}, err
	}
	if found && strings.HasPrefix(string(entry), call.ExternalKey+" ") {
		return Queued{page}, nil
	}
	text := fmt.Sprintf("%s %d x %s", call.ExternalKey, print.Copies, print.Document)
	if err := latchwork.KVSet(page, []byte(text)); err != nil {
		return Queued{}, err
	}
	return Queued{page}, nil
}

func main() {}
