import unittest

import plugin  # noqa: F401  (registers the operators)
from latchwork import Failure
from latchwork.testing import Host


class Greet(unittest.TestCase):
    def test_somebody_is_greeted_by_name(self):
        host = Host()
        made = host.run("{{Noun}}.Greet", {"name": "Ada"})
        self.assertEqual(made["greeting"], "Hello, Ada!")
        self.assertEqual(len(made["id"]), 36)
        self.assertEqual(host.logs, [("info", "greeting Ada for ada")])

    def test_nobody_is_not_greeted(self):
        with self.assertRaises(Failure) as caught:
            Host().run("{{Noun}}.Greet", {"name": " "})
        self.assertEqual(caught.exception.code, "INVALID_INPUT")
