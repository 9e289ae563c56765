#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares chorus with the MPI library on this node, collective by collective:
#   bench/compare_node.sh [OPTION...] [BUILD_FOLDER...]      (default: build)
#   -r RANKS         numbers of ranks, as in "2 4 8" [2]; each bound to a core of its own where there are enough
#   -c COLLECTIVES   as in "bcast reduce" [those that programs use most]
#   -m [MIN:]MAX     sizes [4:4M]
#   -i N             repetitions for each size [as many as take about a second]
#   -o FOLDER        where the results go [build/results]
#   -a               also how far from the floor each is, how well its algorithm is chosen, what persistent calls take,
#                    what a progress thread hides, what exact sums cost (these three of allreduce) and what the preload
#                    adds: a quarter of an hour
# Of each build folder, one with Open MPI and one with MPICH perhaps, and number of ranks it prints a table of the ratios
# and leaves FOLDER/BUILD-MPI-RANKS: the table, and of each collective the JSON and, where there is gnuplot, the plot;
# with -a also floor.txt, regret.txt, persistent.txt, overlap.txt, reproducible.txt and preload.txt, and the JSON of the
# first four; and machine.txt, which says what was measured, when and where.
# Exit code: 0; 1 where a benchmark failed; 2 for a wrong command line or a build folder without chorus-bench.
set -euo pipefail
source "$(dirname "$0")/comparison.sh"

ranks=2 own_options=r:a
own_option() {
  case $1 in
    r) ranks=$2 ;;
    a) judged="floor regret persistent overlap reproducible preload" ;;
  esac
}
read_options "$@"
read -ra numbers <<<"$ranks"
[ ${#numbers[@]} -gt 0 ] || refuse "-r names no number of ranks"
for number in "${numbers[@]}"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || refuse "-r takes numbers of ranks from 1 on, not $number"
done
check_options

places_of() { echo "${numbers[@]}"; }
title_of() { echo "$1 ranks"; }
launch() { "$root/scripts/launch" "$@"; }
compare_all
