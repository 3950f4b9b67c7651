package latchwork

import "latchwork/internal/host"

// Config reads a key of the plugin's config table in latch.toml. It returns false if the key is not set.
// Available only in tools.
func Config(key string, into any) (bool, error) {
	text, found := host.Config(key)
	if !found {
		return false, nil
	}
	if err := decode(text, into); err != nil {
		return true, Fail(MissingRequiredContext, "invalid value of config key %s in latch.toml: %w", key, err)
	}
	return true, nil
}

// Secret returns the placeholder of a secret. The host replaces the placeholder where a grant binds the secret.
// Available only in tools.
func Secret(name string) (string, error) {
	value, denied := host.Secret(name)
	if denied == nil {
		return value, nil
	}
	if denied.Tag == 0 {
		return "", notGranted("secret "+name, "secrets")
	}
	return "", Fail(MissingRequiredContext, "secret %s is granted but has no value", name)
}

// KVGet reads a key of the persistent map in the namespace of the kv grant. Each tenant has a map of its own,
// unless the grant is shared. It returns false if the key is not set. Available only in tools.
func KVGet(key string) ([]byte, bool, error) {
	value, found, denied := host.KVGet(key)
	return value, found, kvFailed(key, denied)
}

// KVSet writes a key. The value is durable when KVSet returns. A key has at most 256 bytes and a value at
// most 64 KiB. Available only in tools.
func KVSet(key string, value []byte) error { return kvFailed(key, host.KVSet(key, value)) }

// KVDelete deletes a key and returns true if the key existed. Available only in tools.
func KVDelete(key string) (bool, error) {
	was, denied := host.KVDelete(key)
	return was, kvFailed(key, denied)
}

func kvFailed(key string, denied *host.Denied) error {
	switch {
	case denied == nil:
		return nil
	case denied.Tag == 0:
		return notGranted("kv key "+key, "kv")
	case denied.Tag == 1:
		return Fail(InvalidInput, "kv key %s: entry too large; a key has at most 256 bytes and a value at most 64 KiB", key)
	}
	return Fail(DependencyUnavailable, "kv key %s: %s", key, denied.Why)
}

func notGranted(what, grant string) error {
	return Fail(PolicyDenied, "%s: not granted; add grants = { %s = ... } in latch.toml", what, grant)
}
