import unittest

import plugin  # noqa: F401  (registers the operators)
from latchwork import Failure, happened
from latchwork.testing import Host


class Keep(unittest.TestCase):
    def test_kept_note_is_found_by_reconcile(self):
        host = Host(kv={}, external_key="latch:j:s1:1")
        self.assertEqual(host.reconcile("{{Noun}}.Keep", "latch:j:s1:1", {"text": "hello"}), "did_not_happen")
        output = host.invoke("{{Noun}}.Keep", {"text": "hello"})
        self.assertEqual(output.result, {"key": "latch:j:s1:1"})
        self.assertEqual(len(output.changes), 1)
        self.assertIsInstance(host.reconcile("{{Noun}}.Keep", "latch:j:s1:1", {"text": "hello"}), happened)

    def test_without_a_grant_the_tool_is_denied(self):
        with self.assertRaises(Failure) as caught:
            Host().invoke("{{Noun}}.Keep", {"text": "hello"})
        self.assertEqual(caught.exception.code, "POLICY_DENIED")
