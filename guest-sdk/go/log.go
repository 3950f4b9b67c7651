package latchwork

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"latchwork/internal/host"
)

// LevelTrace is lower than slog's own levels.
const LevelTrace = slog.Level(-8)

// records is the slog.Handler of operators. The handler writes log records with the trace context of the step. Package
// log uses this handler too.
type records struct {
	group string
	attrs string
}

func (*records) Enabled(context.Context, slog.Level) bool { return true }

func (r *records) Handle(_ context.Context, record slog.Record) error {
	text := record.Message + r.attrs
	record.Attrs(func(attr slog.Attr) bool {
		text += shown(r.group, attr)
		return true
	})
	host.Log(level(record.Level), clean(text))
	return nil
}

func (r *records) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *r
	for _, attr := range attrs {
		with.attrs += shown(r.group, attr)
	}
	return &with
}

func (r *records) WithGroup(name string) slog.Handler {
	with := *r
	with.group += name + "."
	return &with
}

func shown(group string, attr slog.Attr) string {
	value := attr.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		if attr.Key != "" {
			group += attr.Key + "."
		}
		text := ""
		for _, one := range value.Group() {
			text += shown(group, one)
		}
		return text
	}
	said := value.String()
	if strings.ContainsAny(said, " \t\n\"=") {
		said = fmt.Sprintf("%q", said)
	}
	return " " + group + attr.Key + "=" + said
}

func level(l slog.Level) uint32 {
	switch {
	case l < slog.LevelDebug:
		return 0
	case l < slog.LevelInfo:
		return 1
	case l < slog.LevelWarn:
		return 2
	case l < slog.LevelError:
		return 3
	}
	return 4
}
