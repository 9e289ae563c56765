# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What compare_node.sh and compare_cluster.sh have in common; they source it and give
#   own_options, own_option LETTER VALUE    what they take besides
#   places_of BUILD_FOLDER                  where it is measured, one word each, which name the folders of the results
#   title_of PLACE                          the same for readers
#   launch BUILD_FOLDER PLACE PROGRAM ...   runs a program there
#   judged                                  what else is measured, as in `judgement`, and kept
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
script=$(basename "$0")

sizes=4:4M results=$root/build/results repetitions=() own_options='' judged=''
collectives="barrier bcast reduce allreduce reduce_scatter_block allgather alltoall gather scatter scan"

usage() { sed -n '3,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; }
refuse() {
  echo "$script: $1" >&2
  exit 2
}

# read_options ARGUMENT...: leaves what it was told, and the build folders in `builds`.
read_options() {
  while getopts ":hc:m:i:o:$own_options-:" option; do
    if [ "$option${OPTARG:-}" = -help ]; then option=h; fi
    case $option in
      c) collectives=$OPTARG ;;
      m) sizes=$OPTARG ;;
      i) repetitions=(-i "$OPTARG") ;;
      o) results=$OPTARG ;;
      h) usage; exit 0 ;;
      :) refuse "-$OPTARG wants a value (see -h)" ;;
      \?) refuse "there is no option -$OPTARG (see -h)" ;;
      -) refuse "there is no option --$OPTARG (see -h)" ;;
      *) own_option "$option" "${OPTARG:-}" ;;
    esac
  done
  shift $((OPTIND - 1))
  builds=("$@")
  [ $# -gt 0 ] || builds=("$root/build")
}

# Refuses what cannot be measured.
check_options() {
  if [ "$(for build in "${builds[@]}"; do basename "$build"; done | sort | uniq -d)" ]; then
    refuse "two build folders have one name, and so would their results; rename one"
  fi
  for build in "${builds[@]}"; do
    bench=$build/bench/chorus-bench
    [ -x "$bench" ] || refuse "there is no $bench: build it first, or name another build folder"
    [[ $judged != *preload* ]] || [ -e "$(preloaded "$build")" ] ||
      refuse "there is no $(preloaded "$build"): build all of $build first"
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
}

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

preloaded() { echo "$1/lib/preload/libchorus-mpi.so"; }

# judgement WHAT BUILD_FOLDER FOLDER: leaves in `command` what measures it.
judgement() {
  local bench=$2/bench/chorus-bench
  case $1 in
    floor | regret) command=("$bench" "$1" all --json "$3/$1.json") ;;
    persistent) command=("$bench" overlap allreduce --json "$3/$1.json") ;;
    overlap) command=(env CHORUS_PROGRESS_THREAD=1 "$bench" overlap allreduce --compute sleep --compare native
                      --json "$3/$1.json") ;;
    reproducible) command=(env -u CHORUS_REPRODUCIBLE "$bench" allreduce --reproducible --compare plain) ;;
    # What it calls MPI's is that of the preloaded library.
    preload) command=(env "LD_PRELOAD=$(preloaded "$2")" "$bench" all --compare native) ;;
  esac
}

# judge BUILD_FOLDER PLACE FOLDER: leaves what the judgements say.
judge() {
  for what in $judged; do
    echo "$what on $(title_of "$2") ..." >&2
    judgement "$what" "$1" "$3"
    launch "$1" "$2" "${command[@]}" -m "$sizes" --note "$about" "${repetitions[@]}" >"$3/$what.txt" || failed=1
    echo "$what: $(tail -n 1 "$3/$what.txt")"
  done
}

# compare BUILD_FOLDER PLACE FOLDER: measures every collective, then prints the table.
compare() {
  build=$1 place=$2 folder=$3
  measured=() of_sizes=()
  for collective in "${wanted[@]}"; do
    if [ "$collective" != barrier ]; then of_sizes=(-m "$sizes" --plot "$folder/$collective.svg"); else of_sizes=(); fi
    echo "$collective on $(title_of "$place") ..." >&2
    rm -f "$folder/$collective".{json,svg,txt}
    if launch "$build" "$place" "$build/bench/chorus-bench" "$collective" --compare native \
       --json "$folder/$collective.json" --note "$about" "${repetitions[@]}" "${of_sizes[@]}" \
       >"$folder/$collective.txt"; then
      measured+=("$folder/$collective.json")
    else
      failed=1
    fi
  done
  [ "${#measured[@]}" -eq 0 ] ||
    "$root/bench/compare_table.py" "$about" "${measured[@]}" |
    tee "$folder/table.txt"
}

# Compares, and judges, all builds in all their places.
compare_all() {
  failed=0
  for build in "${builds[@]}"; do
    for place in $(places_of "$build"); do
      folder=$results/$(basename "$build")-$(of_build mpi "$build")-$place
      mkdir -p "$folder"
      describe_machine "$build" | tee "$folder/machine.txt"
      about="$(mpi_of "$build"), $(title_of "$place"); "
      about+=$(sed -n 's/^\(date\|commit\|processor\): //p' "$folder/machine.txt" | paste -sd '|' | sed 's/|/, /g')
      compare "$build" "$place" "$folder"
      judge "$build" "$place" "$folder"
    done
  done
  exit "$failed"
}
