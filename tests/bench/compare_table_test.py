#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table that compare_table.py makes of given measurements."""
import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import compare_table


def point(collective, size, ratio, low=None, high=None, valid=True):
    """A line as chorus-bench writes it; without bounds the interval is narrow."""
    return {"collective": collective, "bytes": size, "median_us": 2 * ratio, "native_median_us": 2, "valid": valid,
            "ratio": ratio, "ratio_low": low or ratio * 0.99, "ratio_high": high or ratio * 1.01}


def report(*files):
    """The report of files with these points each."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for index, points in enumerate(files):
            names.append(pathlib.Path(folder, f"{index}.json"))
            names[-1].write_text("".join(json.dumps(one) + "\n" for one in points), encoding="utf-8")
        return compare_table.report("openmpi 4.1.4, 2 ranks", names)


class Table(unittest.TestCase):
    def test_has_a_row_for_each_size_and_a_column_for_each_collective(self):
        text = report([point("barrier", 0, 0.8)], [point("bcast", 4, 0.5), point("bcast", 4096, 2)],
                      [point("reduce", 4096, 0.25), point("reduce", 3 << 20, 1, 0.9, 1.1)])
        self.assertEqual(text.splitlines()[:8], [
            "openmpi 4.1.4, 2 ranks: chorus/MPI, medians; below 1 chorus is faster; *: the interval lies above 1",
            "size     barrier  bcast  reduce",
            "-           0.80",
            "4                  0.50",
            "4K                 2.00*   0.25",
            "3M                         1.00",
            "mean        0.80   1.00    0.50",
            "geometric mean of the collectives' means: 0.74"])

    def test_of_one_collective_has_its_mean(self):
        self.assertIn("means: 2.00\n", report([point("scan", 4, 1, 0.9, 1.1), point("scan", 8, 4)]))


class Losses(unittest.TestCase):
    def test_are_the_points_whose_whole_interval_lies_above_1_the_worst_first(self):
        text = report([point("bcast", 4, 1.25, 1.1, 1.4), point("bcast", 8, 1.3, 0.9, 1.7)], [point("scan", 16, 3)])
        self.assertEqual(text.splitlines()[-3:], [
            "2 of 3 points whose interval lies above 1:",
            "  scan                      16  3.00 [2.97, 3.03]  6.00 beside 2.00 us",
            "  bcast                      4  1.25 [1.10, 1.40]  2.50 beside 2.00 us"])

    def test_are_none_where_chorus_is_nowhere_surely_slower(self):
        self.assertTrue(report([point("bcast", 4, 1.05, 0.99, 1.1)]).endswith(
            "\n0 of 1 points whose interval lies above 1\n"))

    def test_come_with_wrong_results(self):
        self.assertIn("  wrong result: bcast of 4 bytes\n", report([point("bcast", 4, 0.5, valid=False)]))


class CommandLine(unittest.TestCase):
    def outcome(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            return compare_table.main([str(argument) for argument in arguments]), out.getvalue(), err.getvalue()

    def refusal(self, *arguments):
        code, out, err = self.outcome(*arguments)
        self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)
        self.assertTrue(err.startswith("compare_table.py: "), err)
        return err

    def test_says_in_one_line_what_is_wrong_with_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "a.json")
            self.assertIn(f"{file}: No such file", self.refusal("title", file))
            self.assertIn(f"{folder}: Is a directory", self.refusal("title", folder))
            good = json.dumps(point("bcast", 4, 1))
            for text, why in (("", "is empty"), (good + "\n{", "line 2: "), ("[1]", "no JSON object"),
                              ('{"collective": "bcast"}', "--compare native --json"),
                              (good.replace('"bytes": 4', '"bytes": "4"'), '"bytes" is \'4\''),
                              (good.replace('"ratio": 1', '"ratio": NaN'), '"ratio" is nan'),
                              (good.replace('"ratio": 1', '"ratio": 0'), '"ratio" is 0')):
                file.write_text(text, encoding="utf-8")
                self.assertIn(why, self.refusal("title", file))
            file.write_bytes(b"\xff\xfe")
            self.assertIn("can't decode", self.refusal("title", file))

    def test_is_refused_where_it_names_no_file(self):
        for arguments in ((), ("title",), ("--nonsense", "file")):
            self.assertIn("TITLE FILE...", self.refusal(*arguments))

    def test_asks_for_help(self):
        code, out, err = self.outcome("--help")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("compare_table.py TITLE FILE...", out)


if __name__ == "__main__":
    unittest.main()
