//go:build !wasip1

package latchwork

import "latchwork/internal/host"

// FailureOf and ErrorOf convert a failure from and to the form of the host, for package latchtest.

func FailureOf(err *host.Error) error { return fromHost(err) }

func ErrorOf(err error) *host.Error { return described(err, false) }
