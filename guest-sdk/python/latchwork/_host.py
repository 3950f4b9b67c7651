"""What stands between this package and the host.

Inside a component ``_component`` puts the host's functions here; in a test ``testing`` puts a
stand-in here.
"""

_host = None
_running = False


def bind(host):
    """Put the host's functions here; gives what was there before."""
    global _host
    before, _host = _host, host
    return before


def during(function):
    """Run ``function`` as part of an operator: only then is there a host to ask."""
    global _running
    before, _running = _running, True
    try:
        return function()
    finally:
        _running = before


def ask(what):
    """The host.

    A module's own statements run once, while the component is built: what they read of the world
    would be the same for every run ever after, so they cannot.
    """
    if _host is None:
        raise RuntimeError(f"{what}: there is no host here; in a test, use latchwork.testing.Host")
    if not _running:
        raise RuntimeError(
            f"{what} was used outside of an operator, where it would be frozen into the component: "
            "move it into the operator's function"
        )
    return _host
