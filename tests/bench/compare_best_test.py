#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table that compare_best.py makes of the results of several MPI libraries."""
import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import compare_best


def point(collective, size, chorus, mpi):
    return {"collective": collective, "bytes": size, "median_us": chorus, "native_median_us": mpi, "valid": True,
            "ratio": chorus / mpi, "ratio_low": chorus / mpi, "ratio_high": chorus / mpi}


def outcome(*arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        return compare_best.main([str(argument) for argument in arguments]), out.getvalue(), err.getvalue()


class Best(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)

    def folder(self, name, *points):
        folder = pathlib.Path(self.place.name, name)
        folder.mkdir()
        for one in points:
            with open(folder / f"{one['collective']}.json", "a", encoding="utf-8") as file:
                file.write(json.dumps(one) + "\n")
        for other in ("floor", "regret", "persistent", "overlap"):  # as compare_node.sh -a leaves them
            (folder / f"{other}.json").write_text("[]\n", encoding="utf-8")
        return folder

    def test_compares_with_the_best_of_all_by_times_of_one_run(self):
        first = self.folder("first", point("allreduce", 1000, 20, 40), point("allreduce", 1 << 20, 20000, 30000),
                            point("barrier", 0, 9, 9))
        second = self.folder("second", point("allreduce", 1000, 80, 10), point("barrier", 0, 1, 18))
        code, out, err = outcome(4, "1gbit", first, second)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out.splitlines(), [
            "chorus/the best of 2 MPI runs, medians; below 1 chorus is faster; 4 hosts at 1gbit",
            "size      allreduce  barrier  of the link",
            "-                       1.00",
            "1000           8.00                   60%",
            "1M             0.67                   63%",
            "mean           2.31     1.00",
            "geometric mean of the collectives' means: 1.52"])

    def test_knows_the_units_of_bandwidths(self):
        self.assertEqual([compare_best.bytes_per_us(rate) for rate in ("8mbit", "10gbit", "3mbps")], [1, 1250, 3])

    def test_says_in_one_line_what_is_wrong(self):
        empty = pathlib.Path(self.place.name)
        for arguments, why in (((), "wants HOSTS"), ((0, "1gbit", empty), "wants HOSTS"),
                               ((4, "fast", empty), "not fast"), ((4, "1gbit", empty), "no measurement")):
            code, out, err = outcome(*arguments)
            self.assertEqual((code, out, err.count("\n")), (2, "", 1))
            self.assertRegex(err, rf"^compare_best.py: .*{why}")


if __name__ == "__main__":
    unittest.main()
