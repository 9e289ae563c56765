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


def script(*arguments, environment=None):
    return subprocess.run([os.environ["SCRIPT"], *arguments], capture_output=True, text=True, check=False, timeout=250,
                          env={**os.environ, **(environment or {})})


# In the place of smpirun: measures SIZES and then ends with LINK, where it is a link that is measured, or with CRASH,
# where it is chorus.
crashing = """#!/bin/sh
for size in $SIZES; do
  echo "{\\"algorithm\\":\\"auto\\",\\"chosen\\":\\"ring\\",\\"bytes\\":$size,\\"median_us\\":$((size + 1))}"
done
case "$*" in *hosts-*) exit "$LINK" ;; *auto,all*) exit "$CRASH" ;; esac
"""


class Script(unittest.TestCase):
    def test_compares_on_a_small_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            finished = script("-b", os.environ["BUILD"], "-r", "256", "-n", "torus", "-s", "ompi", "-c", "bcast", "-m",
                              "8,1K", "-o", folder)
            self.assertEqual(finished.returncode, 0, finished.stderr)
            self.assertRegex(finished.stdout, r"bcast +8( +\d+\.\d){3}( +\d+\.\d\d){2}  \w+")
            self.assertIn("geometric mean", finished.stdout)
            self.assertTrue(pathlib.Path(folder, "torus-256", "platform.xml").exists())

    def test_refuses_what_it_does_not_know_before_it_simulates(self):
        for arguments, words in ((["-x"], "no option -x"), (["-n", "ring"], "no network ring for 256 ranks"),
                                 (["-n", "torus", "-r", "256 300"], "no network torus for 300 ranks"),
                                 (["-s", "foo"], "-s: there is no foo, but ompi mpich mvapich2 impi"),
                                 (["-c", "bcats"], "-c: chorus-scaling: there is no collective bcats"),
                                 (["-m", "8,abc"], "-m takes sizes"), (["-t", "abc"], "-t takes seconds"),
                                 (["-t", "0"], "-t takes seconds"), (["-c", " "], "-c names nothing"),
                                 (["-b", "/nowhere"], "-Dmpi=smpi")):
            with tempfile.TemporaryDirectory() as folder:
                finished = script("-o", folder + "/results", "-b", os.environ["BUILD"], *arguments)
                self.assertEqual((finished.returncode, finished.stdout), (2, ""), arguments)
                self.assertRegex(finished.stderr, rf"^scaling.sh: [^\n]*{words}[^\n]*\n$")
                self.assertFalse(pathlib.Path(folder, "results").exists())

    def test_refuses_a_wrong_option_before_a_missing_build_folder(self):
        for arguments, words in ((["-r", "x"], "for x ranks"), (["-n", "what"], "no network what"), ([], "-Dmpi=smpi")):
            finished = script("-b", "/nowhere", *arguments)
            self.assertEqual((finished.returncode, finished.stdout), (2, ""), arguments)
            self.assertRegex(finished.stderr, rf"^scaling.sh: [^\n]*{words}[^\n]*\n$")

    def test_refuses_a_folder_that_it_cannot_write_into(self):
        finished = script("-b", os.environ["BUILD"], "-o", "/dev/null/results")
        self.assertEqual((finished.returncode, finished.stderr),
                         (2, "scaling.sh: -o: cannot write into /dev/null/results\n"))

    def compares_with(self, code, folder, link=0, sizes="8 65536 1048576"):
        """As if each simulation of chorus ended with `code` after `sizes`, and each of a link with `link`."""
        programs = pathlib.Path(folder, "programs")
        programs.mkdir(exist_ok=True)
        (programs / "smpirun").write_text(crashing, encoding="utf-8")
        (programs / "smpirun").chmod(0o755)
        return script("-b", os.environ["BUILD"], "-r", "256", "-n", "torus", "-s", "ompi", "-c", "bcast", "-o", folder,
                      environment={"PATH": f"{programs}:{os.environ['PATH']}", "CRASH": str(code),
                                   "LINK": str(link), "SIZES": sizes})

    def test_fails_where_chorus_does_and_tries_it_again(self):
        with tempfile.TemporaryDirectory() as folder:
            finished = self.compares_with(134, folder)
            self.assertEqual(finished.returncode, 1, finished.stderr)
            self.assertIn("torus-256: bcast-chorus ended with 134", finished.stderr)
            self.assertRegex(finished.stdout, r"bcast +8 ")
            self.assertEqual(self.compares_with(134, folder).returncode, 1)
            self.assertEqual(self.compares_with(0, folder).returncode, 0)

    def test_counts_what_was_measured_before_it_was_given_up(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.compares_with(124, folder).returncode, 0)

    def test_keeps_nothing_of_a_link_that_is_not_measured_whole(self):
        for link, sizes in ((134, "8 65536 1048576"), (134, "8"), (124, "8"), (0, "8")):
            with tempfile.TemporaryDirectory() as folder:
                finished = self.compares_with(0, folder, link, sizes)
                self.assertEqual(finished.returncode, 1, finished.stderr)
                self.assertIn("torus-256: link-node: not measured in all of the sizes 8,1048576", finished.stderr)
                self.assertFalse(pathlib.Path(folder, "torus-256", "link-node.json").exists())
                self.assertFalse(pathlib.Path(folder, "torus-256", "tuning.json").exists())
                self.assertEqual(self.compares_with(0, folder).returncode, 0)


class Plot(unittest.TestCase):
    def script(self, **times):
        return scaling_table.plot_script("torus, 256 ranks", "out.svg", "allreduce", {
            who: {size: (time, "") for size, time in points.items()} for who, points in times.items()})

    def test_says_what_is_simulated_and_what_the_curves_are(self):
        text = self.script(chorus={8: 3, 1024: 6}, tuned={8: 3, 1024: 5}, ompi={8: 4, 1024: 9}, impi={8: 4, 1024: 9})
        self.assertIn("set title 'allreduce, torus, 256 ranks: simulated'", text)
        self.assertIn("MPI_Allreduce's selectors of SimGrid: impi, ompi\\n", text)
        self.assertIn("tuned: the fastest algorithm of chorus", text)

    def test_labels_sizes_by_powers_of_two_and_leaves_room_around_the_points(self):
        text = self.script(chorus={8: 3, 16384: 6, 1048576: 30})
        self.assertIn('set xtics ("8 B" 8, "16 KiB" 16384, "1 MiB" 1048576)', text)
        self.assertIn("set xrange [5.33333:1.57286e+06]", text)
        self.assertIn("set yrange [2:45]", text)

    def test_gives_each_curve_a_form_of_its_own(self):
        text = self.script(**{who: {8: 3, 1024: 6} for who in ("chorus", "tuned", "ompi", "mpich", "mvapich2", "impi")})
        for word in ("linecolor rgb", "dashtype", "pointtype"):
            forms = [curve.split(word)[1].split()[0] for curve in text.splitlines()[-1].split(", $d")]
            self.assertEqual(len(set(forms)), 6, word)

    def test_leaves_out_what_a_logarithmic_axis_cannot_show(self):
        self.assertNotIn("title 'ompi'", self.script(chorus={8: 3, 1024: 6}, ompi={8: 0, 1024: 0}))
        self.assertEqual(self.script(chorus={8: 3}), "")


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
        self.assertIn("\nthe best selector is without ompi in bcast 8", text)

    def test_says_in_one_line_which_selectors_the_best_one_is_without(self):
        text = self.report(bcast__chorus={8: 2.0, 1024: 9.0, 16384: 20.0}, bcast__ompi={8: 4.0, 1024: 6.0, 16384: 9.0},
                           bcast__impi={8: 5.0}, allgather__chorus={8: 2.0}, allgather__ompi={8: 4.0},
                           allgather__mvapich2={8: 0.0}, allgather__impi={})
        self.assertEqual(text.splitlines()[-1],
                         "the best selector is without impi in bcast 1K 16K, allgather of every size; "
                         "mvapich2 in bcast of every size, allgather of every size")

    def test_says_nothing_of_missing_selectors_where_all_are_there(self):
        text = self.report(bcast__chorus={8: 2.0}, bcast__ompi={8: 4.0}, bcast__impi={8: 5.0})
        self.assertNotIn("without", text)

    def test_says_what_is_wrong_with_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(scaling_table.WrongInput, "no measurement of chorus"):
                scaling_table.read(pathlib.Path(folder))
            pathlib.Path(folder, "bcast-chorus.json").write_text("{}\n", encoding="utf-8")
            with self.assertRaisesRegex(scaling_table.WrongInput, "line 1"):
                scaling_table.read(pathlib.Path(folder))


if __name__ == "__main__":
    unittest.main()
