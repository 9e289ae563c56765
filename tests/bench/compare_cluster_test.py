#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_cluster_test.py COMPARE_CLUSTER BUILD_FOLDER: runs the comparison on virtual hosts for a moment and reads what
it leaves behind. The exit status is 77 where the system allows no virtual hosts."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

script, build = sys.argv[1:3]
no_hosts = 77


def run(*arguments):
    return subprocess.run([script, *arguments], capture_output=True, text=True, timeout=280, check=False)


class Comparison(unittest.TestCase):
    def test_prints_a_table_for_each_shape_and_for_the_collectives_of_clusters(self):
        with tempfile.TemporaryDirectory() as folder:
            outcome = run("-H", "2x2", "-m", "64:128", "-i", "3", "-c", "barrier bcast", "-o", folder, build)
            if outcome.returncode == no_hosts:
                self.skipTest(outcome.stderr)
            self.assertEqual(outcome.returncode, 0, outcome.stderr)
            for name, title in (("2x2", "hosts 2x2 at 1gbit"), ("2x2-han", "hosts 2x2 at 1gbit, han")):
                self.assertIn(f", {title}; 20", outcome.stdout)
                (results,) = pathlib.Path(folder).glob(f"*-openmpi-{name}")
                self.assertIn("\nsize     barrier  bcast\n", (results / "table.txt").read_text(encoding="utf-8"))
                points = (results / "bcast.json").read_text(encoding="utf-8").splitlines()
                self.assertEqual([json.loads(point)["bytes"] for point in points], [64, 128])
                self.assertEqual(json.loads(points[0])["ranks"], 4)
                self.assertIn("commit: ", (results / "machine.txt").read_text(encoding="utf-8"))

    def test_refuses_what_cannot_be_before_it_measures(self):
        for arguments, why in ((["-H", "2x"], "not 2x"), (["-H", " "], "-H names no hosts"), (["-r", "fast"], "not fast"),
                               (["-c", "bcats"], "no collective bcats"), (["-z"], "there is no option -z")):
            with tempfile.TemporaryDirectory() as folder:
                outcome = run("-o", folder + "/results", *arguments, build)
                self.assertEqual((outcome.returncode, outcome.stdout), (2, ""), arguments)
                self.assertRegex(outcome.stderr, why)
                self.assertFalse(pathlib.Path(folder, "results").exists())

    def test_says_what_it_takes(self):
        outcome = run("--help")
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
        self.assertIn("-H SHAPES", outcome.stdout)


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    for _, why in result.skipped:
        print(why.strip(), file=sys.stderr)
    sys.exit(1 if not result.wasSuccessful() else no_hosts if result.skipped else 0)
