import unittest
from pathlib import Path

import plugin
from latchwork import Failure
from latchwork.testing import Host

PAGE = Path(__file__).parent.joinpath("../funding-outreach/data/professor.html").read_text()
SOURCE = {"path": "/data/professor.html", "sha256": "ab"}


def host(text=PAGE, sha256="AB"):
    return Host(tools={"File.Read": lambda args: {"text": text, "sha256": sha256}})


class Summarize(unittest.TestCase):
    def test_the_page_of_the_example(self):
        professor = host().run("Professor.Summarize", {"page": SOURCE})
        self.assertEqual(professor["name"], "Prof. Dr. Ingrid Solheim")
        self.assertEqual(professor["email"], "ingrid.solheim@fjell.example.org")
        self.assertEqual(len(professor["interests"]), 5)
        self.assertEqual([found["year"] for found in professor["publications"]], [2026, 2025, 2024, 2022, 2019])
        self.assertEqual(professor["publications"][1]["title"], "How uncertain are streamflow forecasts in a warming catchment?")
        self.assertEqual(len(professor["openings"]), 1)
        self.assertEqual(len(professor["summary"]), 3)

    def test_another_file_is_refused(self):
        with self.assertRaises(Failure) as caught:
            host(sha256="cd").run("Professor.Summarize", {"page": SOURCE})
        self.assertIn("was changed", caught.exception.message)

    def test_a_page_without_a_name_is_no_professors(self):
        with self.assertRaises(Failure):
            plugin.read("<p>nothing</p>", plugin.Source("x", ""))
