#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares chorus with the collectives of SimGrid's SMPI on large simulated machines, in simulated time:
#   bench/scaling.sh [OPTION...]
#   -b BUILD_FOLDER  one that was configured with -Dmpi=smpi [build-smpi]
#   -r RANKS         numbers of ranks, of 256, 1024 and 4096; 16 to a node [256 1024]
#   -n NETWORKS      of fattree, dragonfly and torus [all three]
#   -s SELECTORS     what SMPI chooses its algorithms by, of ompi, mpich, mvapich2 and impi [all four]
#   -c COLLECTIVES   [allreduce bcast allgather alltoall reduce_scatter_block]
#   -m SIZES         bytes, as in 8,16K [some from 8 to 1M, fewer for what sends most]
#   -t SECONDS       after which a simulation is given up; its sizes so far count, but of links all are wanted [900]
#   -o FOLDER        where the results go [BUILD_FOLDER/scaling]
# What is there already from a run before is kept: remove FOLDER to begin anew. It gets platforms, tuning files, a line
# of JSON for each measurement, and of each network and number of ranks the table and, where there is gnuplot, plots.
# Exit code: 0; 1 where chorus failed or a link is not measured whole, which is tried again by the next run; 2 for a wrong
# command line or a build folder without chorus-scaling.so.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

build=$root/build-smpi numbers="256 1024" networks="fattree dragonfly torus" selectors="ompi mpich mvapich2 impi"
collectives="allreduce bcast allgather alltoall reduce_scatter_block" sizes="" limit=900 results=""
usage() { sed -n '3,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; }
refuse() {
  echo "scaling.sh: $1" >&2
  exit 2
}
while getopts :hb:r:n:s:c:m:t:o:-: option; do
  if [ "$option${OPTARG:-}" = -help ]; then option=h; fi
  case $option in
    b) build=$(realpath "$OPTARG") ;;
    r) numbers=$OPTARG ;;
    n) networks=$OPTARG ;;
    s) selectors=$OPTARG ;;
    c) collectives=$OPTARG ;;
    m) sizes=$OPTARG ;;
    t) limit=$OPTARG ;;
    o) results=$OPTARG ;;
    h) usage; exit 0 ;;
    :) refuse "-$OPTARG wants a value (see -h)" ;;
    -) refuse "there is no option --$OPTARG (see -h)" ;;
    *) refuse "there is no option -$OPTARG (see -h)" ;;
  esac
done
shift $((OPTIND - 1))
[ $# -eq 0 ] || refuse "takes options alone, not $1 (see -h)"
program=$build/bench/scaling/chorus-scaling.so
results=${results:-$build/scaling}
node_ranks=16
given_up=124 # the exit code of timeout
most_messages=2000000 # an algorithm that sends more is not simulated, unless chorus chooses it

# Levels, then for each level nodes below, switches above and cables; a switch of the lower level has half as many ways
# up as nodes. Torus: nodes in each direction. Dragonfly: groups, chassis, routers and the nodes of a router, with cables.
shape_of() {
  case $1-$2 in
    fattree-256) echo "FAT_TREE 2;4,4;1,2;1,1" ;;
    fattree-1024) echo "FAT_TREE 2;8,8;1,4;1,1" ;;
    fattree-4096) echo "FAT_TREE 2;16,16;1,8;1,1" ;;
    torus-256) echo "TORUS 4,2,2" ;;
    torus-1024) echo "TORUS 4,4,4" ;;
    torus-4096) echo "TORUS 8,8,4" ;;
    dragonfly-256) echo "DRAGONFLY 2,1;2,1;2,1;2" ;;
    dragonfly-1024) echo "DRAGONFLY 4,1;2,2;4,1;2" ;;
    dragonfly-4096) echo "DRAGONFLY 8,1;2,2;8,1;2" ;;
    *) refuse "there is no network $1 for $2 ranks (see -h)" ;;
  esac
}

# make_platform NETWORK RANKS FOLDER: writes FOLDER/platform.xml and FOLDER/hosts. Nodes of 100 Gbit/s.
make_platform() {
  read -r topology parameters <<<"$(shape_of "$1" "$2")"
  nodes=$(($2 / node_ranks))
  cat >"$3/platform.xml" <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" radical="0-$((nodes - 1))" suffix="" speed="10Gf" core="$node_ranks"
           bw="12.5GBps" lat="300ns" loopback_bw="10GBps" loopback_lat="100ns"
           topology="$topology" topo_parameters="$parameters" sharing_policy="SPLITDUPLEX"/>
</platform>
XML
  for ((rank = 0; rank < $2; ++rank)); do echo "node-$((rank / node_ranks))"; done >"$3/hosts"
}

# What a message costs at its two ends; the network is as in the platform, without SMPI's factors for TCP of 2013.
model="--cfg=smpi/host-speed:10Gf --cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0 --cfg=network/crosstraffic:0
  --cfg=smpi/lat-factor:0:1 --cfg=smpi/bw-factor:0:1 --cfg=smpi/os:0:2e-7:0 --cfg=smpi/ois:0:2e-7:0
  --cfg=smpi/or:0:2e-7:0 --cfg=smpi/test:1e-7"

# The sizes of COLLECTIVE on RANKS: those whose messages, of all ranks, can be simulated in minutes.
sizes_of() {
  if [ -n "$sizes" ]; then echo "$sizes"; return; fi
  case $1-$2 in
    allreduce-4096 | bcast-4096) echo 8,1K,16K,256K ;;
    allreduce-* | bcast-*) echo 8,1K,16K,256K,1M ;;
    reduce_scatter_block-256) echo 1K,16K,256K,1M ;;
    reduce_scatter_block-1024) echo 4K,16K,256K,1M ;;
    reduce_scatter_block-4096) echo 16K,256K ;;
    allgather-256) echo 8,1K,16K,256K ;;
    allgather-1024) echo 8,1K,16K ;;
    alltoall-256) echo 8,1K,16K ;;
    alltoall-1024) echo 8,1K ;;
    *) echo 8 ;;
  esac
}

# simulate FOLDER RANKS NAME ARGUMENT...: leaves FOLDER/NAME.json. Options of SMPI may be among the program's. Returns 1
# where it fails, or is given up before it has measured anything.
simulate() {
  local folder=$1 ranks=$2 name=$3 hosts=${hosts:-hosts} code=0
  shift 3
  [ ! -s "$folder/$name.json" ] || return 0
  echo "$(basename "$folder"): $name ..." >&2
  # Without privatization: chorus itself keeps the ranks of a process apart, and a copy for each would take gigabytes.
  # shellcheck disable=SC2086  # the words of $model
  (cd "$folder" && timeout "$limit" smpirun -no-privatize -quiet -np "$ranks" -platform platform.xml -hostfile "$hosts" \
     --log=root.thresh:warning $model "$program" "$@") >"$folder/$name.part" 2>"$folder/$name.log" || {
    code=$?
    echo "$(basename "$folder"): $name ended with $code, see $folder/$name.log" >&2
  }
  grep '^{' "$folder/$name.part" >"$folder/$name.json" || true
  rm "$folder/$name.part"
  [ "$code" -eq 0 ] || [ "$code" -eq "$given_up" ] || return 1
  [ -s "$folder/$name.json" ]
}

# wanted LETTER LIST [KNOWN...]: refuses an empty list, and what is not known where something is.
wanted() {
  local letter=$1 list=$2 one
  shift 2
  [[ $list =~ [^[:space:]] ]] || refuse "-$letter names nothing (see -h)"
  for one in $list; do
    [ $# -eq 0 ] || [[ " $* " = *" $one "* ]] || refuse "-$letter: there is no $one, but $*"
  done
}

# The program knows which collectives there are.
check_collectives() {
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  make_platform torus 256 "$scratch"
  # shellcheck disable=SC2086  # the words of $collectives
  (cd "$scratch" && smpirun -no-privatize -quiet -np 1 -platform platform.xml -hostfile hosts \
    --log=root.thresh:error --cfg=smpi/host-speed:10Gf "$program" $collectives --sizes 8) >"$scratch/said" 2>&1 ||
    refuse "-c: $(grep chorus-scaling: "$scratch/said" || cat "$scratch/said")"
}

# Refuses what cannot be simulated.
check_options() {
  wanted n "$networks"
  wanted r "$numbers"
  for network in $networks; do
    for ranks in $numbers; do shape_of "$network" "$ranks" >/dev/null; done
  done
  wanted s "$selectors" ompi mpich mvapich2 impi
  size="[0-9]{1,9}([kKmMgG](i?[bB])?|[bB])?"
  [[ $sizes =~ ^($size(,$size)*)?$ ]] || refuse "-m takes sizes such as 8,16K, not $sizes"
  [[ $limit =~ ^[1-9][0-9]*$ ]] || refuse "-t takes seconds, 1 or more, not $limit"
  wanted c "$collectives"
  [ -e "$program" ] || refuse "there is no $program: meson setup $build -Dmpi=smpi && ninja -C $build"
  command -v smpirun >/dev/null || refuse "there is no smpirun: install SimGrid"
  check_collectives
  { mkdir -p "$results" && [ -w "$results" ]; } 2>/dev/null || refuse "-o: cannot write into $results"
}

# The time of a message of so many bytes between two ranks, in FOLDER/NAME.json.
time_of() { sed -n "s/.*\"bytes\":$3,.*\"median_us\":\([0-9.]*\).*/\1/p" "$1/$2.json"; }

# has_sizes FOLDER NAME SIZES: whether FOLDER/NAME.json has each of these sizes, in bytes.
has_sizes() {
  local size
  [ -e "$1/$2.json" ] || return 1
  for size in ${3//,/ }; do [ -n "$(time_of "$1" "$2" "$size")" ] || return 1; done
}

# simulate_link FOLDER RANKS NAME SIZES ARGUMENT...: simulates it with these sizes, in bytes. Ends the script, and leaves
# nothing, where it fails or is without one of them.
simulate_link() {
  local folder=$1 ranks=$2 name=$3 needed=$4
  shift 4
  has_sizes "$folder" "$name" "$needed" || rm -f "$folder/$name.json"
  if simulate "$folder" "$ranks" "$name" "$@" --sizes "$needed" && has_sizes "$folder" "$name" "$needed"; then return; fi
  rm -f "$folder/$name.json"
  echo "$(basename "$folder"): $name: not measured in all of the sizes $needed, so that there is no tuning file" >&2
  exit 1
}

# link FOLDER NAME MESSAGES: what one of so many messages, sent one after another, costs, as a tuning file says it.
link() {
  awk -v short="$(time_of "$1" "$2" 8)" -v long="$(time_of "$1" "$2" 1048576)" -v messages="$3" 'BEGIN {
    printf "{\"latency_us\": %.3f, \"megabytes_per_second\": %.0f}", short / messages, 1048576 * messages / (long - short)
  }'
}

log2() { awk -v of="$1" 'BEGIN { print log(of) / log(2) }'; }

# further_message FOLDER NODES: what each message of a root to three nodes takes beside the first, of what one takes.
further_message() {
  awk -v one="$(time_of "$1" link-one 8)" -v three="$(time_of "$1" link-tree 8)" \
    -v network="$(time_of "$1" link-network 8)" -v steps="$(log2 "$2")" \
    'BEGIN { further = (three - one) / 2 / (network / steps); printf "%.3f", (further > 0.01 ? further : 0.01) }'
}

# to_next_gain FOLDER NODES: how many times as fast long messages are where each node sends to the next one alone.
to_next_gain() {
  awk -v short="$(time_of "$1" link-network 8)" -v long="$(time_of "$1" link-network 1048576)" -v steps="$(log2 "$2")" \
    -v next_short="$(time_of "$1" link-next 8)" -v next_long="$(time_of "$1" link-next 1048576)" -v others="$(($2 - 1))" \
    'BEGIN { printf "%.3f", (long - short) / steps / ((next_long - next_short) / others) }'
}

# link_of_all FOLDER RANKS: what a message between nodes costs where all ranks send, over distances that double, and what
# those of a node send together: what recursive doubling takes beyond its last steps, which are inside nodes.
link_of_all() {
  awk -v short="$(time_of "$1" link-all 8)" -v long="$(time_of "$1" link-all 65536)" -v node="$node_ranks" \
    -v inside="$(log2 "$node_ranks")" -v between="$(log2 $(($2 / node_ranks)))" \
    -v node_short="$(time_of "$1" link-node 8)" -v node_long="$(time_of "$1" link-node 1048576)" 'BEGIN {
    each = node_short / (node - 1); a_byte = (node_long - node_short) / (node - 1) / 1048576
    printf "{\"latency_us\": %.3f, \"megabytes_per_second\": %.0f}", (short - inside * each) / between,
           between * 65536 * node / (long - short - inside * 65536 * a_byte)
  }'
}

# tune FOLDER RANKS: measures messages between nodes over distances that double, where one rank of each sends and where
# all do, and where each node sends to the next one alone; those of a root to three nodes; and messages inside a node,
# where all of its ranks send at a time. Leaves FOLDER/tuning.json. Reductions and the library itself take no simulated
# time.
tune() {
  local folder=$1 ranks=$2 nodes=$(($2 / node_ranks))
  head -n "$node_ranks" "$folder/hosts" >"$folder/hosts-node"
  hosts=hosts-node simulate_link "$folder" "$node_ranks" link-node 8,1048576 allgather --algorithms ring
  uniq "$folder/hosts" >"$folder/hosts-network"
  hosts=hosts-network simulate_link "$folder" "$nodes" link-network 8,1048576 allreduce --algorithms recursive_doubling
  hosts=hosts-network simulate_link "$folder" "$nodes" link-next 8,1048576 allgather --algorithms ring
  for ((rank = 0; rank < ranks; ++rank)); do echo "node-$((rank % nodes))"; done >"$folder/hosts-all"
  hosts=hosts-all simulate_link "$folder" "$ranks" link-all 8,65536 allreduce --algorithms recursive_doubling
  sed -n '1p;$p' "$folder/hosts" >"$folder/hosts-one"
  hosts=hosts-one simulate_link "$folder" 2 link-one 8 bcast --algorithms binomial
  { sed -n '1p' "$folder/hosts-network" && tail -n 3 "$folder/hosts-network"; } >"$folder/hosts-tree"
  hosts=hosts-tree simulate_link "$folder" 4 link-tree 8 bcast --algorithms knomial
  cat >"$folder/tuning.json" <<JSON
{"schema": 1, "links": {"node": $(link "$folder" link-node $((node_ranks - 1))),
                        "network": $(link "$folder" link-network "$(log2 "$nodes")"),
                        "network_by_all": $(link_of_all "$folder" "$ranks"),
                        "to_next_gain": $(to_next_gain "$folder" "$nodes"),
                        "further_message": $(further_message "$folder" "$nodes"),
                        "task_us": 0.001, "reduce_megabytes_per_second": 1e9}}
JSON
}

check_options
failed=0 incomplete=()
for network in $networks; do
  for ranks in $numbers; do
    folder=$results/$network-$ranks
    mkdir -p "$folder"
    make_platform "$network" "$ranks" "$folder"
    tune "$folder" "$ranks"
    for collective in $collectives; do
      of=$(sizes_of "$collective" "$ranks")
      for selector in $selectors; do
        simulate "$folder" "$ranks" "$collective-$selector" "$collective" --sizes "$of" --algorithms mpi \
          "--cfg=smpi/coll-selector:$selector" || true
      done
      CHORUS_TUNING_FILE=$folder/tuning.json \
        simulate "$folder" "$ranks" "$collective-chorus" "$collective" --sizes "$of" --algorithms auto,all \
        --most-messages "$most_messages" "--cfg=smpi/coll-selector:ompi" "--cfg=smpi/bcast:default" ||
        incomplete+=("$folder/$collective-chorus.json")
    done
    python3 -B "$root/bench/scaling_table.py" "${network/fattree/fat tree}, $ranks ranks" "$folder" | tee "$folder/table.txt" || failed=1
  done
done
if [ ${#incomplete[@]} -gt 0 ]; then
  rm -f "${incomplete[@]}"
  failed=1
fi
exit "$failed"
