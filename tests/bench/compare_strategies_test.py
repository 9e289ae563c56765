#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table that compare_strategies.py makes, of peers that are scripts of this test."""
import contextlib
import io
import os
import pathlib
import tempfile
import unittest

import compare_strategies

printed = """\
# chorus Strategy Run Test v0.1.0
       Run(us)      Bare(us)     Ratio
         0.100         0.200     0.500
# Size      All-reduce(us)      Bare(us)     Ratio
4                    0.250         0.077     3.232
8                    0.255         0.080     3.173
65536                5.000         5.539     0.948
1048576             80.000        80.251     1.492
# Way                           Median(us)      Gain       Low      High
one by one                         100.000     1.000     1.000     1.000
in packs                           150.000     0.985     0.976     1.003
in packs, as bfloat16              320.336     0.477     0.473     0.482
"""
mpirun = """#!/bin/sh
case "$*" in
  *chorus-bench*) cat "$(dirname "$0")/printed" ;;
  *ddp) echo '{"4": 100, "65536": 50, "1048576": 80, "one by one": 1000, "in packs": 100}' ;;
  *) echo "no peer: $*" >&2; exit 3 ;;
esac
"""


class Strategies(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        (self.folder / "printed").write_text(printed, encoding="utf-8")
        self.program("mpirun", mpirun)
        self.program("bench/chorus-bench", "")
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = f"{self.folder}:{path}"

    def program(self, name, text):
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755)
        return str(file)

    def outcome(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            try:
                code = compare_strategies.main([*arguments, str(self.folder)])
            except SystemExit as end:
                code = end.code
        return code, out.getvalue(), err.getvalue()

    def test_divides_by_what_the_peer_takes(self):
        python = self.program("python", '#!/bin/sh\ncase "$*" in *"import torch") exit 0 ;; *) exit 1 ;; esac\n')
        code, out, err = self.outcome("-r", "2", "-p", python)
        self.assertEqual((code, err), (0, "round 1 of 2\nround 2 of 2\n"))
        self.assertEqual([line.split() for line in out.splitlines()], [
            ["microseconds", "chorus", "ddp", "chorus/ddp"],
            ["all-reduce,", "4", "B", "0.25", "100", "0.0025", "[0.0025,", "0.0025]"],
            ["all-reduce,", "64", "KiB", "5", "50", "0.1", "[0.1,", "0.1]"],
            ["all-reduce,", "1", "MiB", "80", "80", "1", "[1,", "1]"],
            ["100", "of", "10", "kB,", "one", "by", "one", "100", "1000", "0.1", "[0.1,", "0.1]"],
            ["100", "of", "10", "kB,", "in", "packs", "150", "100", "1.5", "[1.5,", "1.5]"]])

    def test_says_what_is_missing(self):
        none = self.program("none", "#!/bin/sh\nexit 1\n")
        every = self.program("every", "#!/bin/sh\nexit 0\n")
        for arguments, code, why in ((("-p", none), 1, "neither torch nor horovod.torch"),
                                     (("-p", every), 1, "horovod ended with 3"),
                                     (("-r", "0"), 2, "a whole number from 1, not 0")):
            ended, out, err = self.outcome(*arguments)
            self.assertEqual((ended, out), (code, ""))
            self.assertIn(why, err)

    def test_wants_every_row(self):
        self.program("printed", printed.replace("65536 ", "32768 "))
        every = self.program("every", "#!/bin/sh\nexit 0\n")
        code, _, err = self.outcome("-p", every)
        self.assertEqual(code, 1)
        self.assertIn("has not printed all", err)


if __name__ == "__main__":
    unittest.main()
