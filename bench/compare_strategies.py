#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the all-reduces of strategies with those of PyTorch's DistributedDataParallel and of Horovod, in turn:
  bench/compare_strategies.py [-n RANKS] [-r ROUNDS] [-p PYTHON] [BUILD_FOLDER]

Needs an mpirun of Open MPI, and a python3 with torch; what it lacks of the peers is left out. HOROVOD_CYCLE_TIME and other
settings of the peers are taken from the environment. Prints the medians of the rounds, and of the ratios of each round the
median with the least and the greatest."""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
peers = {"ddp": "torch", "horovod": "horovod.torch"}  # each with the module that it needs
rows = {"4": "all-reduce, 4 B", "65536": "all-reduce, 64 KiB", "1048576": "all-reduce, 1 MiB",
        "one by one": "100 of 10 kB, one by one", "in packs": "100 of 10 kB, in packs"}


class Failed(Exception):
    pass


def output_of(command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(str(word) for word in command)} ended with {done.returncode}")
    return done.stdout


def times_in(text):
    """Of what `chorus-bench strategies` prints: row -> microseconds."""
    lines = re.findall(r"^(\d+|one by one|in packs) +(\d+\.\d+) ", text, re.MULTILINE)
    found = {row: float(time) for row, time in lines if row in rows}
    if found.keys() != rows.keys():
        raise Failed("chorus-bench strategies has not printed all that is compared")
    return found


def table(rounds):
    """Of the rounds, each {"chorus": times, peer: times, ...}: lines of text."""
    others = [name for name in rounds[0] if name != "chorus"]
    yield f"{'microseconds':<26}{'chorus':>10}" + "".join(f"{name:>12}  {'chorus/' + name:>26}" for name in others)
    for row, title in rows.items():
        line = f"{title:<26}{statistics.median(each['chorus'][row] for each in rounds):>10.4g}"
        for name in others:
            ratios = [each["chorus"][row] / each[name][row] for each in rounds]
            spread = f"{statistics.median(ratios):.3g} [{min(ratios):.3g}, {max(ratios):.3g}]"
            line += f"{statistics.median(each[name][row] for each in rounds):>12.4g}  {spread:>26}"
        yield line


def positive(text):
    if not re.fullmatch(r"[1-9]\d*", text):
        raise argparse.ArgumentTypeError(f"takes a whole number from 1, not {text}")
    return int(text)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", dest="ranks", type=positive, default=2, help="ranks [2]")
    parser.add_argument("-r", dest="rounds", type=positive, default=5, help="rounds [5]")
    parser.add_argument("-p", dest="python", default=sys.executable, help="a python3 with the peers [the one that runs]")
    parser.add_argument("build", nargs="?", default="build", type=pathlib.Path)
    given = parser.parse_args(arguments)
    bench = given.build / "bench" / "chorus-bench"
    launch = ["mpirun", "--oversubscribe", "-n", given.ranks]
    measured = {"chorus": [*launch, bench, "strategies", "--replicas", 1, "-m", "4:1M", "-i", 60]}
    try:
        if not bench.exists():
            raise Failed(f"{given.build} has no bench/chorus-bench: give a build folder")
        for name, module in peers.items():
            if subprocess.run([given.python, "-c", f"import {module}"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
                measured[name] = [*launch, given.python, here / "strategies_peer.py", name]
        if len(measured) == 1:
            raise Failed(f"{given.python} has neither {' nor '.join(peers.values())}: install one, or give another by -p")
        rounds = []
        for number in range(given.rounds):
            print(f"round {number + 1} of {given.rounds}", file=sys.stderr)
            rounds.append({name: times_in(text) if name == "chorus" else json.loads(text.splitlines()[-1])
                           for name, command in measured.items() for text in [output_of(command)]})
    except Failed as failure:
        print(f"compare_strategies.py: {failure}", file=sys.stderr)
        return 1
    print("\n".join(table(rounds)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
