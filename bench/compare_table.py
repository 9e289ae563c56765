#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the ratios that chorus-bench --compare native --json has written:
  bench/compare_table.py TITLE FILE...

One table: a row for each size, a column for each collective, in the order of the files. Then the points where the MPI
library is surely faster: where the whole interval of the ratio lies above 1."""
import json
import math
import sys


numbers = ("bytes", "ratio", "ratio_low", "ratio_high", "median_us", "native_median_us")


class WrongInput(Exception):
    """What is wrong with which file, for the user."""


def point_of(line):
    """The measurement that `line` holds; throws ValueError where it is none that can be compared."""
    point = json.loads(line)
    if not isinstance(point, dict):
        raise ValueError("no JSON object")
    for name in ("collective", "valid", *numbers):
        if name not in point:
            raise ValueError(f'no "{name}": only chorus-bench --compare native --json writes all that is wanted')
    for name in numbers:
        if isinstance(point[name], bool) or not isinstance(point[name], (int, float)) or not point[name] >= 0:
            raise ValueError(f'"{name}" is {point[name]!r}, no number from 0 on')
    if not point["ratio"] > 0:
        raise ValueError('"ratio" is 0')
    return point


def points_of(name):
    """The points of one file."""
    try:
        with open(name, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WrongInput(f"{name}: {getattr(error, 'strerror', None) or error}") from error
    if not lines:
        raise WrongInput(f"{name} is empty: no measurement was written to it")
    for number, line in enumerate(lines, 1):
        try:
            yield point_of(line)
        except ValueError as error:
            raise WrongInput(f"{name}, line {number}: {error}") from error


def read(files):
    """The points of all files, by collective and then by bytes."""
    points = {}
    for name in files:
        for point in points_of(name):
            points.setdefault(str(point["collective"]), {})[int(point["bytes"])] = point
    return points


def slower(point):
    return point["ratio_low"] > 1


def size_text(size):
    for shift, unit in ((20, "M"), (10, "K")):
        if size and size % (1 << shift) == 0:
            return f"{size >> shift}{unit}"
    return str(size)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def cell(point):
    return "" if point is None else f"{point['ratio']:.2f}{'*' if slower(point) else ' '}"


def table(title, points):
    """The lines of the table; a barrier, which has no size, stands in a row of its own."""
    widths = {collective: max(len(collective), 5) + 2 for collective in points}

    def row(name, cells):
        return (f"{name:<8}" + "".join(f"{text:>{width}}" for text, width in zip(cells, widths.values()))).rstrip()

    yield f"{title}: chorus/MPI, medians; below 1 chorus is faster; *: the interval lies above 1"
    yield row("size", [collective + " " for collective in points])
    for size in sorted({size for column in points.values() for size in column}):
        yield row("-" if size == 0 else size_text(size), [cell(column.get(size)) for column in points.values()])
    ratios = [[point["ratio"] for point in column.values()] for column in points.values()]
    yield row("mean", [f"{geometric_mean(column):.2f} " for column in ratios])
    yield f"geometric mean of the collectives' means: {geometric_mean([geometric_mean(column) for column in ratios]):.2f}"


def losses(points):
    """The lines that name the points where the MPI library is surely faster, the worst first, and wrong results."""
    everything = [point for column in points.values() for point in column.values()]
    lost = sorted(filter(slower, everything), key=lambda point: -point["ratio"])
    yield f"{len(lost)} of {len(everything)} points whose interval lies above 1{':' if lost else ''}"
    for point in lost:
        yield (f"  {point['collective']:<22}{size_text(point['bytes']):>6}  {point['ratio']:.2f} "
               f"[{point['ratio_low']:.2f}, {point['ratio_high']:.2f}]  "
               f"{point['median_us']:.2f} beside {point['native_median_us']:.2f} us")
    for point in everything:
        if not point["valid"]:
            yield f"  wrong result: {point['collective']} of {point['bytes']} bytes"


def report(title, files):
    points = read(files)
    return "\n".join([*table(title, points), *losses(points)]) + "\n"


def main(arguments):
    if arguments in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    try:
        if len(arguments) < 2 or arguments[0].startswith("-"):
            raise WrongInput("wants TITLE FILE... (see --help)")
        print("\n" + report(arguments[0], arguments[1:]), end="")
        return 0
    except WrongInput as wrong:
        print(f"compare_table.py: {wrong}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
