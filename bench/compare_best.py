#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares chorus with the best of several MPI libraries, from what bench/compare_cluster.sh has left for each:
  bench/compare_best.py HOSTS RATE FOLDER...

such as 4 1gbit build/results/build-openmpi-4x2 build/results/build-openmpi-4x2-han build/results/build-mpich-mpich-4x2.
Of each point it is the greatest of the ratios, each of times that were measured in turn: from one run to the next the
machine differs by more than the libraries. Last comes, of the allreduces of the first folder, the share of what the links
of so many HOSTS of this RATE (as tc writes it) allow: 2 (n-1)/n times the bytes, by the bandwidth."""
import pathlib
import re
import sys

from compare_table import WrongInput, geometric_mean, read, size_text

bits = {"bit": 1, "bps": 8}
judges = ("floor", "regret", "persistent", "overlap")  # whose JSON holds no comparison
powers = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def bytes_per_us(rate):
    match = re.fullmatch(r"([1-9]\d*)([kmgt]?)(bit|bps)", rate)
    if not match:
        raise WrongInput(f"RATE is a bandwidth such as 1gbit, not {rate}")
    return int(match[1]) * powers[match[2]] * bits[match[3]] / 8 / 1e6


def points_in(folder):
    """Of the files that hold the comparison; those of judges, as regret.json, hold others."""
    files = [file for file in sorted(pathlib.Path(folder).glob("*.json")) if file.stem not in judges]
    if not files:
        raise WrongInput(f"{folder} has no measurement, COLLECTIVE.json")
    return read(files)


def ratios(folders):
    """By collective and bytes, of those in the first folder: the time of chorus by that of the best MPI library."""
    return {collective: {size: max(folder[collective][size]["median_us"] / folder[collective][size]["native_median_us"]
                                   for folder in folders if size in folder.get(collective, {}))
                         for size in column} for collective, column in folders[0].items()}


def shares(points, hosts, rate):
    """Of the time of an allreduce, what the links need: by bytes."""
    return {size: 2 * (hosts - 1) / hosts * size / bytes_per_us(rate) / point["median_us"]
            for size, point in points.get("allreduce", {}).items()}


def report(hosts, rate, folders):
    found, share = ratios(folders), shares(folders[0], hosts, rate)
    names = [*found, *(["of the link"] if share else [])]

    def row(name, cells):
        return (f"{name:<8}" + "".join(f"{text:>{max(len(of), 5) + 2}}" for of, text in zip(names, cells))).rstrip()

    yield f"chorus/the best of {len(folders)} MPI runs, medians; below 1 chorus is faster; {hosts} hosts at {rate}"
    yield row("size", names)
    for size in sorted({size for column in found.values() for size in column}):
        cells = [f"{column[size]:.2f}" if size in column else "" for column in found.values()]
        yield row(size_text(size) if size else "-", [*cells, f"{share[size]:.0%}" if size in share else ""])
    means = [geometric_mean(column.values()) for column in found.values()]
    yield row("mean", [f"{mean:.2f}" for mean in means])
    yield f"geometric mean of the collectives' means: {geometric_mean(means):.2f}"


def main(arguments):
    if arguments in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    try:
        if len(arguments) < 3 or not re.fullmatch(r"[1-9]\d*", arguments[0]):
            raise WrongInput("wants HOSTS RATE FOLDER... (see --help)")
        bytes_per_us(arguments[1])
        print("\n".join(report(int(arguments[0]), arguments[1], [points_in(folder) for folder in arguments[2:]])))
        return 0
    except WrongInput as wrong:
        print(f"compare_best.py: {wrong}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
