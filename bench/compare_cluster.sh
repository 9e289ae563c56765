#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares chorus with the MPI library between hosts, which are virtual ones of this machine, collective by collective:
#   bench/compare_cluster.sh [OPTION...] [BUILD_FOLDER...]   (default: build)
#   -H SHAPES        hosts and ranks of each, as in "4x2 1,2,1" [4x2]
#   -r RATE          bandwidth of every host's link, as tc writes it [1gbit]
#   -c COLLECTIVES   as in "bcast reduce" [allreduce bcast allgather reduce_scatter]
#   -m [MIN:]MAX     sizes [4:16M]
#   -i N             repetitions for each size [as many as take about a second]
#   -o FOLDER        where the results go [build/results]
#   -a               also how well its algorithm is chosen: some minutes more
# Of each build folder, one with Open MPI and one with MPICH perhaps, and shape it prints a table of the ratios, with Open
# MPI also one beside its collectives for clusters (han), and leaves FOLDER/BUILD-MPI-SHAPE[-han]: the table, and of each
# collective the JSON and, where there is gnuplot, the plot; with -a also regret.txt and its JSON; and machine.txt, which
# says what was measured, when and where.
# Exit code: 0; 1 where a benchmark failed; 2 for a wrong command line or a build folder without chorus-bench; 77 where
# the system allows no virtual hosts.
set -euo pipefail
source "$(dirname "$0")/comparison.sh"

shapes=4x2 rate=1gbit own_options=H:r:a
collectives="allreduce bcast allgather reduce_scatter" sizes=4:16M
own_option() {
  case $1 in
    H) shapes=$2 ;;
    r) rate=$2 ;;
    a) judged=regret ;;
  esac
}
read_options "$@"
read -ra clusters <<<"$shapes"
[ ${#clusters[@]} -gt 0 ] || refuse "-H names no hosts"
for cluster in "${clusters[@]}"; do
  [[ $cluster =~ ^([1-9][0-9]?x[1-9][0-9]*|[1-9][0-9]*(,[1-9][0-9]*){0,98})$ ]] ||
    refuse "-H takes HOSTSxRANKS, up to 99 hosts, or RANKS,RANKS,..., not $cluster"
done
[[ $rate =~ ^[1-9][0-9]*([kmgt]?bit|[kmgt]?bps)$ ]] || refuse "-r takes bandwidths such as 1gbit, not $rate"
check_options

on_hosts=$root/tests/cluster/run
"$on_hosts" --hosts 1x1 --once -- true || exit $?

places_of() {
  for cluster in "${clusters[@]}"; do
    echo "$cluster"
    if [ "$(of_build mpi "$1")" = openmpi ]; then echo "$cluster-han"; fi
  done
}
title_of() {
  case $1 in
    *-han) echo "$(title_of "${1%-han}"), han" ;;
    *) echo "hosts $1 at $rate" ;;
  esac
}
launch() {
  build=$1 place=$2
  shift 2
  settings=()
  if [[ $place = *-han ]]; then settings=(OMPI_MCA_coll_han_priority=100); fi
  env "${settings[@]}" timeout -k 10 900 "$on_hosts" --hosts "${place%-han}" --rate "$rate" \
    --mpi "$(of_build mpi "$build")" -- "$@" </dev/null
}
compare_all
