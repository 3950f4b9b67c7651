"""Connects this package to the host.

In a component ``_component`` binds the host's functions. In a test ``testing`` binds a test host.
"""

_host = None
_running = False


def bind(host):
    """Binds the host's functions. Returns the previously bound functions."""
    global _host
    before, _host = _host, host
    return before


def during(function):
    """Runs ``function`` as part of an operator. The host is available only while ``function`` runs."""
    global _running
    before, _running = _running, True
    try:
        return function()
    finally:
        _running = before


def ask(what):
    """Returns the bound host. Raises outside of an operator.

    The top-level statements of a module run once, while the component is built. A value that they read from the host
    would be the same in every run.
    """
    if _host is None:
        raise RuntimeError(f"{what}: no host outside of a component; in a test, use latchwork.testing.Host")
    if not _running:
        raise RuntimeError(
            f"{what} was used outside of an operator, where it would be frozen into the component: "
            "move it into the operator's function"
        )
    return _host
