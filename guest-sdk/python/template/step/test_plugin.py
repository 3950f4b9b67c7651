import unittest

import plugin  # noqa: F401  (registers the operators)
from latchwork import Failure
from latchwork.testing import Host


class Greet(unittest.TestCase):
    def test_greets_a_person_by_name(self):
        host = Host()
        made = host.run("{{Noun}}.Greet", {"name": "Ada"})
        self.assertEqual(made["greeting"], "Hello, Ada!")
        self.assertEqual(len(made["id"]), 36)
        self.assertEqual(host.logs, [("info", "greeting Ada for ada")])

    def test_rejects_an_empty_name(self):
        with self.assertRaises(Failure) as caught:
            Host().run("{{Noun}}.Greet", {"name": " "})
        self.assertEqual(caught.exception.code, "INVALID_INPUT")
