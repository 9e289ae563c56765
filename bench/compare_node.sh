#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares chorus with the MPI library on this node, collective by collective:
#   bench/compare_node.sh [OPTION...] [BUILD_FOLDER...]      (default: build)
#   -r RANKS         numbers of ranks, as in "2 4 8" [2]; each bound to a core of its own where there are enough
#   -c COLLECTIVES   as in "bcast reduce" [those that programs use most]
#   -m [MIN:]MAX     sizes [4:4M]
#   -i N             repetitions for each size [as many as take about a second]
#   -o FOLDER        where the results go [build/results]
#   -a               also how far from the floor each is, and how well its algorithm is chosen: some minutes more
# Of each build folder, one with Open MPI and one with MPICH perhaps, and number of ranks it prints a table of the ratios
# and leaves FOLDER/BUILD-MPI-RANKS: the table, and of each collective the JSON and, where there is gnuplot, the plot;
# with -a also floor.txt and regret.txt, for all that chorus-bench knows, and their JSON; and machine.txt, which says what
# was measured, when and where.
# Exit code: 0; 1 where a benchmark failed; 2 for a wrong command line or a build folder without chorus-bench.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

ranks=2 sizes=4:4M results=$root/build/results repetitions=() all=false
collectives="barrier bcast reduce allreduce reduce_scatter_block allgather alltoall gather scatter scan"
usage() { sed -n '3,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; }
refuse() {
  echo "compare_node.sh: $1" >&2
  exit 2
}
if [ "${1:-}" = --help ]; then set -- -h; fi
while getopts :har:c:m:i:o: option; do
  case $option in
    r) ranks=$OPTARG ;;
    c) collectives=$OPTARG ;;
    m) sizes=$OPTARG ;;
    i) repetitions=(-i "$OPTARG") ;;
    o) results=$OPTARG ;;
    a) all=true ;;
    h) usage; exit 0 ;;
    :) refuse "-$OPTARG wants a value (see -h)" ;;
    *) refuse "there is no option -$OPTARG (see -h)" ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- "$root/build"
read -ra numbers <<<"$ranks"
[ ${#numbers[@]} -gt 0 ] || refuse "-r names no number of ranks"
for number in "${numbers[@]}"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || refuse "-r takes numbers of ranks from 1 on, not $number"
done
if [ "$(for build in "$@"; do basename "$build"; done | sort | uniq -d)" ]; then
  refuse "two build folders have one name, and so would their results; rename one"
fi

for build in "$@"; do
  bench=$build/bench/chorus-bench
  [ -x "$bench" ] || refuse "there is no $bench: build it first, or name another build folder"
done
# It knows what sizes and repetitions can be, and which collectives there are.
list=$("$bench" list -m "$sizes" "${repetitions[@]}") || refuse "chorus-bench does not take these options, see above"
read -ra wanted <<<"$collectives"
[ ${#wanted[@]} -gt 0 ] || refuse "-c names no collective"
for collective in "${wanted[@]}"; do
  grep -Fqx -- "$collective" <<<"$list" ||
    refuse "-c: there is no collective $collective; there are $(grep '^[a-z]' <<<"$list" | paste -sd ' ')"
done
{ mkdir -p "$results" && [ -w "$results" ]; } 2>/dev/null || refuse "-o: cannot write into $results"

# of_build VARIABLE BUILD_FOLDER: such as the MPI library that it was built with.
of_build() { pkg-config "--variable=$1" "$2/meson-private/chorus.pc"; }
mpi_of() { echo "$(of_build mpi "$1") $(of_build mpi_version "$1")"; }

# describe_machine BUILD_FOLDER
describe_machine() {
  model=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
  if command -v lscpu >/dev/null; then model=$(lscpu | sed -n 's/^Model name: *//p' | head -n 1); fi
  echo "date: $(date -u '+%Y-%m-%d %H:%M UTC')"
  echo "commit: $(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)"
  echo "processor: $model, $(nproc) cores"
  echo "kernel: $(uname -sr)"
  echo "load: $(cut -d ' ' -f 1-3 /proc/loadavg)"
  echo "build: $(basename "$1") with $(mpi_of "$1")"
}

# judge BUILD_FOLDER RANKS FOLDER: leaves what floor and regret say of all collectives.
judge() {
  for what in floor regret; do
    echo "$what on $2 ranks ..." >&2
    "$root/scripts/launch" "$1" "$2" "$1/bench/chorus-bench" "$what" all -m "$sizes" --json "$3/$what.json" \
      --note "$(mpi_of "$1"); $about" "${repetitions[@]}" >"$3/$what.txt" || failed=1
    echo "$what: $(tail -n 1 "$3/$what.txt")"
  done
}

# compare BUILD_FOLDER RANKS FOLDER: measures every collective, then prints the table.
compare() {
  build=$1 number=$2 folder=$3
  measured=() plot=()
  for collective in "${wanted[@]}"; do
    if [ "$collective" != barrier ]; then plot=(--plot "$folder/$collective.svg"); else plot=(); fi
    echo "$collective on $number ranks ..." >&2
    rm -f "$folder/$collective".{json,svg,txt}
    if "$root/scripts/launch" "$build" "$number" "$build/bench/chorus-bench" "$collective" -m "$sizes" \
       --compare native --json "$folder/$collective.json" --note "$(mpi_of "$build"); $about" \
       "${repetitions[@]}" "${plot[@]}" >"$folder/$collective.txt"; then
      measured+=("$folder/$collective.json")
    else
      failed=1
    fi
  done
  [ "${#measured[@]}" -eq 0 ] ||
    "$root/bench/compare_table.py" "$(mpi_of "$build"), $number ranks; $about" "${measured[@]}" |
    tee "$folder/table.txt"
}

failed=0
for build in "$@"; do
  for number in "${numbers[@]}"; do
    folder=$results/$(basename "$build")-$(of_build mpi "$build")-$number
    mkdir -p "$folder"
    describe_machine "$build" | tee "$folder/machine.txt"
    about=$(sed -n 's/^\(date\|commit\|processor\): //p' "$folder/machine.txt" | paste -sd '|' | sed 's/|/, /g')
    compare "$build" "$number" "$folder"
    if $all; then judge "$build" "$number" "$folder"; fi
  done
done
exit "$failed"
