#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts_test.py SCRIPTS BUILD_FOLDER: what the scripts say of themselves, and to a wrong command line."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

cluster = pathlib.Path(__file__).resolve().parents[1] / "cluster" / "run"
scripts, build = pathlib.Path(sys.argv[1]), sys.argv[2]
names = sorted(path.name for path in scripts.iterdir() if path.is_file())


def run(name, *arguments):
    return subprocess.run([scripts / name, *arguments], capture_output=True, text=True, timeout=60, check=False)


class Every(unittest.TestCase):
    def test_script_says_what_it_does_and_takes(self):
        for name in names:
            for option in ("-h", "--help"):
                outcome = run(name, option)
                self.assertEqual((outcome.returncode, outcome.stderr), (0, ""), name)
                self.assertRegex(outcome.stdout, rf"(?m)^  scripts/{name}\b", name)
                self.assertNotRegex(outcome.stdout, r"(?m)^(#|set |SPDX)", name)

    def test_script_refuses_an_option_that_it_does_not_have(self):
        for name in names:
            outcome = run(name, "--nonsense")
            self.assertEqual((outcome.returncode, outcome.stdout), (2, ""), name)
            self.assertRegex(outcome.stderr, rf"^[^\n]*{name}: [^\n]*--nonsense[^\n]*\(see --help\)\n$")

    def test_script_refuses_more_than_it_takes(self):
        for name, arguments in {"test": ["--all", "more"], "run": ["more"], "install-dependencies": ["--ci", "more"],
                                "fetch-digits": ["folder", "more"], "count-tests": ["file", "more"]}.items():
            outcome = run(name, *arguments)
            self.assertEqual(outcome.returncode, 2, name)
            self.assertRegex(outcome.stderr, rf"{name}: [^\n]*more", name)


class InstallDependencies(unittest.TestCase):
    def test_finds_a_compiler_of_several_words(self):
        with tempfile.TemporaryDirectory() as folder:
            for program in ("bash", "env", "true"):
                pathlib.Path(folder, program).symlink_to(shutil.which(program))
            for compiler, missing in (("env true", False), ("env absent", True)):
                outcome = subprocess.run([scripts / "install-dependencies"], capture_output=True, text=True, timeout=60,
                                         check=False, env={"PATH": folder, "CXX": compiler})
                self.assertEqual(outcome.returncode, 1, outcome.stderr)
                self.assertEqual("a C++20 compiler" in outcome.stderr, missing, outcome.stderr)


class Run(unittest.TestCase):
    def test_fails_where_a_program_does(self):
        """With others in the place of what it calls."""
        for digits_code in (0, 3):
            with tempfile.TemporaryDirectory() as folder:
                here = pathlib.Path(folder)
                launch = (f"case $* in *digits*) echo held-out images 99; exit {digits_code} ;; esac; "
                          "echo '{\"ratio\": 1}' >build/allreduce.json")
                for name, text in {"scripts/install-dependencies": "", "scripts/fetch-digits": "echo data", "ninja": "",
                                   "scripts/launch": launch, "build/build.ninja": ""}.items():
                    (here / name).parent.mkdir(exist_ok=True)
                    (here / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
                    (here / name).chmod(0o755)
                shutil.copy(scripts / "run", here / "scripts")
                outcome = subprocess.run([here / "scripts" / "run"], capture_output=True, text=True, timeout=60, check=False,
                                         env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
                self.assertEqual(outcome.returncode, digits_code, outcome.stderr)
                self.assertEqual("99 % of the held-out" in outcome.stdout, digits_code == 0)


class FetchDigits(unittest.TestCase):
    def test_refuses_what_cannot_be_a_folder(self):
        outcome = run("fetch-digits", "/dev/null")
        self.assertEqual((outcome.returncode, outcome.stderr),
                         (2, "fetch-digits: /dev/null cannot be made a folder\n"))


class CountTests(unittest.TestCase):
    def test_counts(self):
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as log:
            log.write('{"name": "a", "result": "OK", "stdout": "[  PASSED  ] 3 tests."}\n'
                      '{"name": "b", "result": "FAIL"}\n{"name": "c", "result": "SKIP"}\n')
            log.flush()
            self.assertEqual(run("count-tests", log.name).stdout, "3\n1\n1\nb: FAIL\n")

    def test_counts_what_is_skipped_of_a_suite_that_must_run_as_failed(self):
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as log:
            log.write('{"name": "p:unit / a", "result": "OK"}\n{"name": "p:unit / b", "result": "SKIP"}\n'
                      '{"name": "p:cluster / c", "result": "SKIP", "stdout": "x\\n", "stderr": "y\\nno namespaces\\n"}\n'
                      '{"name": "p:cluster / d", "result": "SKIP"}\n{"name": "cluster / e", "result": "SKIP"}\n')
            log.flush()
            self.assertEqual(run("count-tests", log.name).stdout, "1\n0\n4\n")
            self.assertEqual(run("count-tests", "--must-run", "cluster", log.name).stdout,
                             "1\n2\n2\np:cluster / c: SKIP, no namespaces\n"
                             "p:cluster / d: SKIP, and it does not say why\n")
            self.assertEqual(run("count-tests", "--must-run", log.name).returncode, 2)

    def test_says_in_one_line_what_it_cannot_read(self):
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as broken:
            broken.write("[1")
            broken.flush()
            for file in ("/nonexistent", broken.name):
                outcome = run("count-tests", file)
                self.assertEqual(outcome.returncode, 2)
                self.assertRegex(outcome.stderr, rf"^count-tests: {file}[^\n]*\n$")


class Launch(unittest.TestCase):
    def test_refuses_what_it_cannot_launch(self):
        for arguments, why in ((["2"], "wants BUILD_FOLDER"), ([build, "0", "true"], "0 is no number of ranks"),
                               (["/tmp", "2", "true"], "/tmp is no build folder"),
                               ([build, "2", "/nonexistent"], "/nonexistent is no program"),
                               ([build, "2", "/tmp"], "/tmp is no program")):
            outcome = run("launch", *arguments)
            self.assertEqual(outcome.returncode, 2)
            self.assertRegex(outcome.stderr, rf"^scripts/launch: {why}[^\n]*\n$")

    def test_launches_by_the_mpirun_of_the_mpi_library(self):
        for family, option in (("openmpi", "--bind-to"), ("mpich", "-bind-to")):
            with tempfile.TemporaryDirectory() as folder:
                package = pathlib.Path(folder, "meson-private", "chorus.pc")
                package.parent.mkdir()
                package.write_text(f"mpi={family}\nmpi_prefix={folder}\nName: chorus\nDescription: chorus\nVersion: 1\n",
                                   encoding="utf-8")
                pathlib.Path(folder, "bin").mkdir()
                for name in ("mpirun", f"mpirun.{family}"):  # the second is taken where both are
                    launcher = pathlib.Path(folder, "bin", name)
                    launcher.write_text(f"#!/bin/sh\necho {name} \"$@\"\n", encoding="utf-8")
                    launcher.chmod(0o755)
                    self.assertRegex(run("launch", folder, "2", "true").stdout, rf"^{name} [^\n]*{option} .* -n 2 true\n$")


class VirtualCluster(unittest.TestCase):
    def outcome(self, *arguments, path=os.environ["PATH"]):
        return subprocess.run([sys.executable, "-B", cluster, *arguments], capture_output=True, text=True, timeout=60,
                              check=False, env={**os.environ, "PATH": path})

    def test_refuses_a_wrong_command_line_in_one_line(self):
        for arguments, why in ((["--rate", "abc", "--", "true"], "--rate: abc is no bandwidth"),
                               (["--rate", "0bit", "--", "true"], "--rate: 0bit is no bandwidth"),
                               (["--hosts", "2x", "--", "true"], "--hosts: 2x is neither"), ([], "PROGRAM"),
                               (["--map-by", "core", "--", "true"], "--map-by: [^\n]*core"),
                               (["--slurm", "--map-by", "node", "--", "true"], "--map-by node is for mpirun")):
            outcome = self.outcome(*arguments)
            self.assertEqual((outcome.returncode, outcome.stdout), (2, ""), arguments)
            self.assertRegex(outcome.stderr, rf"^tests/cluster/run: [^\n]*{why}[^\n]*\n$")

    def test_says_in_one_line_what_is_not_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            for program in ("unshare", "setpriv", "ip", "mount", "hostname", "nsenter", "srun"):
                pathlib.Path(folder, program).symlink_to(shutil.which(program) or "/bin/true")
            for options, absent in ((["--slurm"], "munged, no slurmctld, no slurmd"), (["--batch"], "munged"),
                                    (["--mpi", "mpich"], "mpirun.mpich"), (["--once", "--rate", "1gbit"], "tc")):
                outcome = self.outcome(*options, "--", "true", path=folder)
                self.assertEqual((outcome.returncode, outcome.stdout), (2, ""), options)
                self.assertRegex(outcome.stderr, rf"^tests/cluster/run: there is no {absent}[^\n]*"
                                 r"scripts/install-dependencies --ci[^\n]*\n$")

    def test_says_how_it_is_called(self):
        self.assertIn("usage: tests/cluster/run [OPTION...] -- PROGRAM [ARGUMENT...]\n", self.outcome("--help").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
