//go:build !wasip1

package latchwork

import "latchwork/internal/host"

// FailureOf and ErrorOf are for package latchtest: a failure as it crosses the border, both ways.

func FailureOf(err *host.Error) error { return fromHost(err) }

func ErrorOf(err error) *host.Error { return described(err, false) }
