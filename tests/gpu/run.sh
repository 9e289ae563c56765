#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds chorus on a machine with a GPU of NVIDIA's and tries collectives on its memory: results checked on 1, 2 and 4
# ranks that share a device and on one rank for each device by NCCL, once more under compute-sanitizer, and a table of times.
#   tests/gpu/run.sh [FOLDER]    builds into FOLDER (build-gpu) and leaves its reports there
# Needs the headers of the CUDA Toolkit, NCCL with its header, and what scripts/install-dependencies installs, which it
# calls.
set -euo pipefail
cd "$(dirname "$0")/../.."
case "${1-}" in -h | --help) sed -n '3,7s/^# \{0,1\}//p' "$0"; exit ;; esac
folder=${1-build-gpu}
nvidia-smi -L >/dev/null 2>&1 || { echo "tests/gpu/run.sh: nvidia-smi finds no GPU; run it on a machine that has one" >&2; exit 1; }

scripts/install-dependencies
[ -e "$folder/build.ninja" ] || meson setup "$folder" -Dcuda=enabled -Dnccl=enabled -Dtests=false
ninja --quiet -C "$folder" bench/chorus-bench
bench=$folder/bench/chorus-bench

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
launch() {
  ranks=$1
  shift
  timeout 300 mpirun -n "$ranks" "$@"
}
passed=0
failed=0
# try NAME COMMAND...: its output is in FOLDER/gpu-NAME.txt.
try() {
  report=$folder/gpu-$1.txt
  shift
  if "$@" >"$report" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed, see $report: $*"
    tail -n 20 "$report"
  fi
}

collectives="bcast reduce allreduce reduce_scatter_block reduce_scatter allgather allgatherv alltoall alltoallv gather gatherv \
scatter scatterv"
gpus=$(nvidia-smi -L | grep -c '^GPU')
for collective in $collectives; do
  try "nccl-$collective" launch "$gpus" "$bench" "$collective" --memory device --algorithm nccl -c -m 4:16M
  for ranks in 1 2 4; do
    try "shared-$collective-$ranks" launch "$ranks" env CHORUS_GPUS=0,0,0,0 "$bench" "$collective" --memory device \
      --algorithm all -c -m 4:16M
  done
done
if command -v compute-sanitizer >/dev/null; then
  try memcheck launch 2 env CHORUS_GPUS=0,0 compute-sanitizer --error-exitcode 1 "$bench" allreduce --memory device --algorithm all -c -m 4:1M -i 2 -x 1
else
  echo "left out: compute-sanitizer of the CUDA Toolkit is not on the PATH"
fi

echo "== $(date -u +%F), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1), $(git rev-parse --short HEAD)"
for collective in $collectives; do
  for report in "$folder/gpu-nccl-$collective.txt" "$folder/gpu-shared-$collective-2.txt" "$folder/gpu-shared-$collective-4.txt"; do
    echo "-- $(basename "$report" .txt)"
    cat "$report"
  done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
