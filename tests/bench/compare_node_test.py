#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_node_test.py COMPARE_NODE BUILD_FOLDER: runs the comparison for a moment and reads what it leaves behind."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

script, build = sys.argv[1:3]
too_short = "reduce_scatter_block"  # where its 4 bytes are for two ranks


def run(*arguments):
    return subprocess.run([script, *arguments], capture_output=True, text=True, timeout=200, check=False)


class Comparison(unittest.TestCase):
    def test_prints_a_table_for_each_number_of_ranks_and_leaves_what_was_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            outcome = run("-r", "2 3", "-m", "4:8", "-i", "3", "-c", "barrier bcast", "-o", folder, build)
            self.assertEqual(outcome.returncode, 0, outcome.stderr)
            for ranks in (2, 3):
                self.assertRegex(outcome.stdout, f", {ranks} ranks; 20.*, [0-9]+ cores: chorus/MPI")
                (results,) = pathlib.Path(folder).glob(f"*-{ranks}")
                self.assertIn("\nsize     barrier  bcast\n", (results / "table.txt").read_text(encoding="utf-8"))
                points = (results / "bcast.json").read_text(encoding="utf-8").splitlines()
                self.assertEqual([json.loads(point)["bytes"] for point in points], [4, 8])
                self.assertEqual(json.loads(points[0])["ranks"], ranks)
                self.assertRegex(json.loads(points[0])["note"], "mpi.* [0-9]+ cores")
                machine = (results / "machine.txt").read_text(encoding="utf-8")
                self.assertIn(machine, outcome.stdout)
                for key in ("date", "commit", "processor", "kernel", "load", "build"):
                    self.assertRegex(machine, f"(?m)^{key}: .+$")

    def test_judges_what_a_ratio_to_the_mpi_library_does_not_say(self):
        with tempfile.TemporaryDirectory() as folder:
            outcome = run("-a", "-m", "64:64", "-i", "2", "-c", "bcast", "-o", folder, build)
            self.assertEqual(outcome.returncode, 0, outcome.stderr)
            (results,) = pathlib.Path(folder).glob("*-2")
            for judgement, column in (("floor", "Floor"), ("regret", "Regret"), ("persistent", "Persistent"),
                                      ("overlap", "Overlap"), ("reproducible", "plain Median"), ("preload", "Ratio")):
                text = (results / (judgement + ".txt")).read_text(encoding="utf-8")
                self.assertRegex(text, f"(?m)^# (Size|Chosen) .*{column}")
                self.assertRegex(text, "(?m)^64 ")
                self.assertIn(f"{judgement}: ", outcome.stdout)

    def test_keeps_what_is_not_measured_again(self):
        with tempfile.TemporaryDirectory() as folder:
            for collectives in ("barrier", "bcast", too_short):
                run("-m", "4:4", "-i", "3", "-c", collectives, "-o", folder, build)
            (results,) = pathlib.Path(folder).glob("*-2")
            for name in ("barrier.json", "bcast.json"):
                self.assertTrue((results / name).read_text(encoding="utf-8"))

    def test_goes_on_after_a_failed_collective_and_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            outcome = run("-m", "4:4", "-i", "3", "-c", too_short + " bcast", "-o", folder, build)
            self.assertEqual(outcome.returncode, 1)
            self.assertIn("less than one float32 for each of the 2 ranks", outcome.stderr)
            self.assertIn("\nsize     bcast\n", outcome.stdout)

    def test_refuses_what_cannot_be_before_it_measures(self):
        for arguments, why in ((["-c", "bcast bcats"], "-c: there is no collective bcats; there are barrier bcast "),
                               (["-c", "all"], "no collective all"), (["-c", "*"], "no collective \\*"),
                               (["-c", " "], "-c names no collective"), (["-m", "8:4"], "-m: the smallest size"),
                               (["-m", "many"], "'many' is no size"), (["-i", "0"], "-i must be at least 1"),
                               (["-i", "x"], "not x"), (["-r", "2 x"], "not x"), (["-o", "/dev/null/x"], "cannot write"),
                               (["-c"], "-c wants a value"), (["-z"], "there is no option -z"),
                               (["--size"], "there is no option --size")):
            with tempfile.TemporaryDirectory() as folder:
                outcome = run("-o", folder + "/results", *arguments, *([] if len(arguments) == 1 else [build]))
                self.assertEqual((outcome.returncode, outcome.stdout), (2, ""), arguments)
                self.assertRegex(outcome.stderr, why)
                self.assertFalse(pathlib.Path(folder, "results").exists())

    def test_refuses_a_folder_without_the_benchmark(self):
        outcome = run("/nonexistent")
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("there is no /nonexistent/bench/chorus-bench", outcome.stderr)

    def test_says_what_it_takes(self):
        for option in ("-h", "--help"):
            outcome = run(option)
            self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
            self.assertIn("-r RANKS", outcome.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
