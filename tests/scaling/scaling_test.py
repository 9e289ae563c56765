#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/scaling.sh, and the table that scaling_table.py makes of what it leaves."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import scaling_table


def script(*arguments):
    return subprocess.run([os.environ["SCRIPT"], *arguments], capture_output=True, text=True, check=False, timeout=250)


class Script(unittest.TestCase):
    def test_compares_on_a_small_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            finished = script("-b", os.environ["BUILD"], "-r", "256", "-n", "torus", "-s", "ompi", "-c", "bcast", "-m",
                              "8,1K", "-o", folder)
            self.assertEqual(finished.returncode, 0, finished.stderr)
            self.assertRegex(finished.stdout, r"bcast +8( +\d+\.\d){3}( +\d+\.\d\d){2}  \w+")
            self.assertIn("geometric mean", finished.stdout)
            self.assertTrue(pathlib.Path(folder, "torus-256", "platform.xml").exists())

    def test_refuses_what_it_does_not_know(self):
        for arguments, words in ((["-x"], "no option -x"), (["-b", "/nowhere"], "-Dmpi=smpi"),
                                 (["-b", os.environ["BUILD"], "-n", "ring"], "no network ring")):
            finished = script(*arguments)
            self.assertEqual(finished.returncode, 2)
            self.assertIn(words, finished.stderr)


class Table(unittest.TestCase):
    def report(self, others=(), **points):
        """The report of files named so, each with a time for each size; `others`: of an algorithm not chosen."""
        others = dict(others)
        with tempfile.TemporaryDirectory() as folder:
            for name, times in points.items():
                file = pathlib.Path(folder, name.replace("__", "-") + ".json")
                chosen = {"algorithm": "auto", "chosen": "ring"} if name.endswith("chorus") else {"algorithm": "mpi"}
                lines = [{"bytes": size, "median_us": time, **chosen} for size, time in times.items()]
                lines += [{"bytes": size, "median_us": time, "algorithm": "bruck"} for size, time in others.items()
                          if name.endswith("chorus")]
                file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            return "\n".join(scaling_table.report("torus", scaling_table.read(pathlib.Path(folder))))

    def test_has_the_ratio_to_the_best_selector(self):
        text = self.report(bcast__chorus={8: 2.0, 1024: 9.0}, bcast__ompi={8: 4.0, 1024: 6.0},
                           bcast__impi={8: 5.0, 1024: 12.0})
        self.assertRegex(text, r"bcast +8 +2\.0 +2\.0 +5\.0 +4\.0 +0\.50 +0\.50  ring")
        self.assertRegex(text, r"bcast +1K +9\.0 +9\.0 +12\.0 +6\.0 +1\.50 +1\.50  ring")
        self.assertRegex(text, r"bcast +mean +0\.87 +0\.87")
        self.assertIn("chorus: slower than the best selector in bcast 1K (1.50)", text)

    def test_has_the_fastest_algorithm_beside_the_chosen_one(self):
        text = self.report(bcast__chorus={8: 6.0}, bcast__ompi={8: 4.0}, others={8: 2.0})
        self.assertRegex(text, r"bcast +8 +6\.0 +2\.0 +4\.0 +1\.50 +0\.50  ring, bruck")
        self.assertIn("tuned: slower than the best selector in nothing", text)

    def test_counts_no_selector_that_does_nothing(self):
        text = self.report(allgather__chorus={8: 2.0}, allgather__mvapich2={8: 0.0}, allgather__ompi={8: 4.0})
        self.assertRegex(text, r"allgather +8 +2\.0 +2\.0 +- +4\.0 +0\.50 +0\.50")
        self.assertIn("chorus: slower than the best selector in nothing", text)

    def test_shows_what_is_missing(self):
        text = self.report(bcast__chorus={8: 2.0}, bcast__ompi={1024: 4.0})
        self.assertRegex(text, r"bcast +8 +2\.0 +2\.0 +- +- +-")
        self.assertRegex(text, r"bcast +1K +- +- +4\.0 +- +-")

    def test_says_what_is_wrong_with_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(scaling_table.WrongInput, "no measurement of chorus"):
                scaling_table.read(pathlib.Path(folder))
            pathlib.Path(folder, "bcast-chorus.json").write_text("{}\n", encoding="utf-8")
            with self.assertRaisesRegex(scaling_table.WrongInput, "line 1"):
                scaling_table.read(pathlib.Path(folder))


if __name__ == "__main__":
    unittest.main()
