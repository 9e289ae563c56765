#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what bench/scaling.sh has measured on one simulated machine:
  bench/scaling_table.py TITLE FOLDER

FOLDER holds COLLECTIVE-SELECTOR.json and COLLECTIVE-chorus.json. One table: a row for each collective and size, with the
simulated time of chorus as it chooses by its model, of the fastest of its algorithms, as a tuning file with measurements
would have it choose, and of each selector; and both times of chorus divided by that of the best selector. Where there is
gnuplot it also leaves FOLDER/COLLECTIVE.svg. A selector that takes no time at all has done nothing: it does not count.
The last line says where selectors have no time, so that the best one is that of the others."""
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys

from compare_table import WrongInput, geometric_mean, size_text

order = ("bcast", "allreduce", "reduce_scatter_block", "allgather", "alltoall")
model, tuned = "chorus", "tuned"  # chorus by its model, and by what was measured


def measurements(file):
    """The lines of `file` by who carried the collective out and by bytes: microseconds and algorithm."""
    who = file.stem.rsplit("-", 1)[1]
    found = {} if who == model else {who: {}}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            point = json.loads(line)
            size, time, algorithm = int(point["bytes"]), float(point["median_us"]), str(point["algorithm"])
        except (ValueError, KeyError, TypeError) as error:
            raise WrongInput(f"{file}, line {number}: no measurement of chorus-scaling ({error})") from error
        if algorithm == "mpi":
            found.setdefault(who, {})[size] = (time, "")
            continue
        if algorithm == "auto":
            algorithm = str(point.get("chosen", ""))
            found.setdefault(model, {})[size] = (time, algorithm)
        best = found.setdefault(tuned, {})
        best[size] = min(best.get(size, (math.inf, "")), (time, algorithm))
    return found


def read(folder):
    """By collective, then by who carried it out, then by bytes: microseconds and algorithm."""
    found = {}
    for file in sorted(folder.glob("*-*.json")):
        collective = file.stem.rsplit("-", 1)[0]
        if collective != "link":
            found.setdefault(collective, {}).update(measurements(file))
    if not any(model in by_who for by_who in found.values()):
        raise WrongInput(f"{folder} has no measurement of chorus: *-chorus.json")
    return {collective: found[collective] for collective in sorted(found, key=place)}


def place(collective):
    return (order.index(collective) if collective in order else len(order), collective)


def time_text(point):
    return "-" if point is None or point[0] <= 0 else f"{point[0]:.1f}"


def ratio_of(by_who, who, size):
    """The time of `who` by that of the best selector; None where either is missing."""
    ours = by_who.get(who, {}).get(size)
    theirs = [points[size][0] for name, points in by_who.items() if name not in (model, tuned) and size in points]
    theirs = [time for time in theirs if time > 0]
    return ours[0] / min(theirs) if ours and theirs else None


def ratio_text(ratio):
    return "-" if ratio is None else f"{ratio:.2f}"


class Means:
    """Of the ratios of chorus to the best selector, and where they are above 1."""

    def __init__(self, who):
        self.who = who
        self.of_collectives = []
        self.lost = []

    def add(self, collective, ratios):
        """Of the sizes of one collective. Returns their mean."""
        known = {size: ratio for size, ratio in ratios.items() if ratio is not None}
        if not known:
            return None
        self.lost += [f"{collective} {size_text(size)} ({ratio:.2f})" for size, ratio in known.items() if ratio > 1.005]
        self.of_collectives.append(geometric_mean(known.values()))
        return self.of_collectives[-1]

    def lines(self):
        if self.of_collectives:
            yield f"{self.who}: geometric mean of the collectives' means {geometric_mean(self.of_collectives):.2f}"
            yield f"{self.who}: slower than the best selector in {', '.join(self.lost) if self.lost else 'nothing'}"


def missing(found, selectors):
    """In which rows each of `selectors` has no time, in one line; none where all have."""
    rows = {who: [] for who in selectors}
    for collective, by_who in found.items():
        sizes = sorted({size for points in by_who.values() for size in points})
        for who in selectors:
            points = by_who.get(who, {})
            without = [size for size in sizes if size not in points or points[size][0] <= 0]
            if without:
                every = len(without) == len(sizes)
                rows[who].append(f"{collective} {'of every size' if every else ' '.join(map(size_text, without))}")
    if any(rows.values()):
        text = "; ".join(f"{who} in {', '.join(of_who)}" for who, of_who in rows.items() if of_who)
        yield f"the best selector is without {text}"


def report(title, found):
    selectors = sorted({who for by_who in found.values() for who in by_who} - {model, tuned})
    yield f"{title}: simulated microseconds; ratios to the best selector, below 1 chorus is faster"
    yield (f"{'collective':<22}{'size':>6}" + "".join(f"{who:>10}" for who in (model, tuned, *selectors)) +
           f"{model:>8}{tuned:>7}  algorithms")
    means = {who: Means(who) for who in (model, tuned)}
    for collective, by_who in found.items():
        sizes = sorted({size for points in by_who.values() for size in points})
        ratios = {who: {size: ratio_of(by_who, who, size) for size in sizes} for who in means}
        for size in sizes:
            times = "".join(f"{time_text(by_who.get(who, {}).get(size)):>10}" for who in (model, tuned, *selectors))
            names = dict.fromkeys(by_who[who][size][1] for who in means if size in by_who.get(who, {}))
            yield (f"{collective:<22}{size_text(size):>6}{times}{ratio_text(ratios[model][size]):>8}"
                   f"{ratio_text(ratios[tuned][size]):>7}  {', '.join(names)}").rstrip()
        both = [ratio_text(means[who].add(collective, ratios[who])) for who in means]
        yield f"{collective:<22}{'mean':>6}{'':>{10 * (2 + len(selectors))}}{both[0]:>8}{both[1]:>7}"
    for who in means:
        yield from means[who].lines()
    yield from missing(found, selectors)


# Of each curve in turn. Colours of Okabe and Ito without the yellow. A curve does not hide one that it lies on: what is
# drawn later is thinner and has gaps, and its points are hollow and larger.
colours = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#555555")
dashes = ("1", "(12,8)", "(9,5)", "(6,6)", "(3,4)", "(2,6)", "(12,4,2,4)")
points = ("7 pointsize 0.7", "4 pointsize 0.9", "6 pointsize 1.0", "8 pointsize 1.2", "10 pointsize 1.4",
          "12 pointsize 1.6", "14 pointsize 1.8")

plot_style = """set encoding utf8
set border 3 linewidth 0.8 linecolor rgb '#888888'
set tics nomirror textcolor rgb '#333333'
set grid xtics ytics linetype 1 linewidth 0.6 linecolor rgb '#E3E3E3'
set key outside right top Left reverse spacing 1.3 samplen 4
set tmargin 5.5
set logscale x 2
set logscale y 10
set ytics ('1 µs' 1, '10 µs' 10, '100 µs' 100, '1 ms' 1e3, '10 ms' 1e4, '100 ms' 1e5, '1 s' 1e6, '10 s' 1e7, '100 s' 1e8)
set xlabel 'Message size'
set ylabel 'Simulated time'
"""


def tic_text(size):
    """As in the plots of chorus-bench."""
    text = size_text(size)
    return f"{text[:-1]} {text[-1]}iB" if text[-1].isalpha() else f"{text} B"


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


def room(values):
    """A logarithmic axis on which no point lies on the frame."""
    return f"[{min(values) / 1.5:g}:{max(values) * 1.5:g}]"


def meaning(collective, names):
    """What the curves are, below the title."""
    lines = [f"MPI_{collective.capitalize()}'s selectors of SimGrid: " +
             ", ".join(name for name in names if name not in (model, tuned))]
    if tuned in names:
        lines.append("chorus: as it chooses by its model; tuned: the fastest algorithm of chorus")
    return "\\n".join(lines)


def plot_script(title, picture, collective, by_who):
    """Gnuplot's: time by size, both logarithmic, a curve for each; empty where all have one size, which is no plot."""
    curves = {who: [(size, point[0]) for size, point in sorted(points.items()) if size > 0 and point[0] > 0]
              for who, points in by_who.items()}
    curves = {who: measured for who, measured in curves.items() if len(measured) > 1}
    if not curves:
        return ""
    names = sorted(curves, key=lambda who: (who not in (model, tuned), who))
    every = [point for measured in curves.values() for point in measured]
    sizes = sorted({size for size, _ in every})
    data = "".join(f"$d{index} << EOD\n" + "".join(f"{size} {time}\n" for size, time in curves[who]) + "EOD\n"
                   for index, who in enumerate(names))
    drawn = ", ".join(f"$d{index} with linespoints linewidth {3 if who == model else 1.8} "
                      f"linecolor rgb '{colours[index % len(colours)]}' dashtype {dashes[index % len(dashes)]} "
                      f"pointtype {points[index % len(points)]} title '{who}'" for index, who in enumerate(names))
    return f"""{data}set terminal svg size 900,560 font 'Helvetica,Arial,sans-serif,15' background rgb 'white' noenhanced
set output {quoted(picture)}
{plot_style}set title {quoted(f"{collective}, {title}: simulated")} font ',19' offset 0,1.6
set label "{meaning(collective, names)}" at graph 0.5,1.09 center font ',12' textcolor rgb '#666666'
set xtics ({", ".join(f'"{tic_text(size)}" {size}' for size in sizes)})
set xrange {room(sizes)}
set yrange {room([time for _, time in every])}
plot {drawn}
"""


def plot(title, folder, collective, by_who):
    script = plot_script(title, folder / (collective + ".svg"), collective, by_who)
    if script:
        subprocess.run(["gnuplot"], input=script, text=True, encoding="utf-8", check=True,
                       env={**os.environ, "LC_ALL": "C.UTF-8"})


def main(arguments):
    if arguments in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    try:
        if len(arguments) != 2 or arguments[0].startswith("-"):
            raise WrongInput("wants TITLE FOLDER (see --help)")
        title, folder = arguments[0], pathlib.Path(arguments[1])
        found = read(folder)
        print("\n".join(report(title, found)))
        if shutil.which("gnuplot"):
            for collective, by_who in found.items():
                plot(title, folder, collective, by_who)
        return 0
    except WrongInput as wrong:
        print(f"scaling_table.py: {wrong}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
