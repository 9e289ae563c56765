#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds chorus on a machine with GPUs of NVIDIA's and tries it on their memory: the tests of device memory on the first
# GPU, which all their ranks share; every collective checked and timed on one rank for each GPU by NCCL, and on 1, 2 and 4
# ranks that share a GPU; the same once more under compute-sanitizer and with NVIDIA's MPS; and how fast the GPU copies.
#   tests/gpu/run.sh [--built] [FOLDER]    builds into FOLDER (build-gpu) and leaves its reports there
#   --built    FOLDER has been built, here or on a machine like this one
# Needs the headers of the CUDA Toolkit, its nvcc, NCCL with its header, and what scripts/install-dependencies installs,
# which it calls.
set -euo pipefail
cd "$(dirname "$0")/../.."
case "${1-}" in -h | --help) sed -n '3,9s/^# \{0,1\}//p' "$0"; exit ;; esac
built=false
if [ "${1-}" = --built ]; then
  built=true
  shift
fi
case "${1-}" in -*) echo "tests/gpu/run.sh: there is no option $1 (see -h)" >&2; exit 2 ;; esac
[ $# -le 1 ] || { echo "tests/gpu/run.sh: takes one folder, not $2 (see -h)" >&2; exit 2; }
folder=${1-build-gpu}
nvidia-smi -L >/dev/null 2>&1 || { echo "tests/gpu/run.sh: nvidia-smi finds no GPU; run it on a machine that has one" >&2; exit 1; }

programs="bench/chorus-bench tools/chorus-info tests/gpu/gpu_test tests/gpu/replicas_test tests/gpu/copy_speed tests/gpu/gpu_guide"
if ! $built; then
  scripts/install-dependencies
  [ -e "$folder/build.ninja" ] || meson setup "$folder" -Dcuda=enabled -Dnccl=enabled
  # shellcheck disable=SC2086
  ninja --quiet -C "$folder" $programs
fi
bench=$folder/bench/chorus-bench

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none CHORUS_LOG=info
# The same for Open MPI 5.
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none
launch() {
  timeout 300 mpirun -n "$@"
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
# shared NAME RANKS ARGUMENT...: the benchmark on ranks that share the first GPU.
shared() {
  name=$1 ranks=$2
  shift 2
  try "$name" launch "$ranks" env CHORUS_GPUS=0,0,0,0 "$bench" --memory device -c -x 3 "$@"
}

gpus=$(nvidia-smi -L | grep -c '^GPU')
try topology launch 2 "$folder/tools/chorus-info" topology
try copies "$folder/tests/gpu/copy_speed"
try guide launch "$gpus" "$folder/tests/gpu/gpu_guide"
try tests "$folder/tests/gpu/gpu_test"
try replicas "$folder/tests/gpu/replicas_test"
try nccl launch "$gpus" "$bench" all --memory device --algorithm nccl -c -i 100 -x 3 -m 4:16M
try nccl-itself launch "$gpus" "$bench" allreduce --memory device --compare nccl -i 400 -m 4:64M
for ranks in 1 2 4; do
  shared "shared-$ranks" "$ranks" all --algorithm staged -i 10 -m 4:16M
  shared "allreduce-$ranks" "$ranks" allreduce --algorithm all -i 30 -m 4:64M
done
if command -v nvidia-cuda-mps-control >/dev/null; then
  mps=$(mktemp -d)
  export CUDA_MPS_PIPE_DIRECTORY=$mps CUDA_MPS_LOG_DIRECTORY=$mps
  nvidia-cuda-mps-control -d
  for ranks in 2 4; do shared "mps-allreduce-$ranks" "$ranks" allreduce --algorithm all -i 100 -m 4:64M; done
  echo quit | nvidia-cuda-mps-control
  unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
  for ((wait = 0; wait < 10; ++wait)); do  # it removes what it has there when it ends
    rm -rf "$mps" 2>/dev/null && break
    sleep 1
  done
else
  echo "left out: nvidia-cuda-mps-control of the driver is not on the PATH"
fi
if command -v compute-sanitizer >/dev/null; then
  # Without NCCL, which probes for kernels that the GPU may not have. The kernels have no memory in common to race for.
  sanitizer="env CHORUS_NCCL_LIBRARY=none compute-sanitizer --error-exitcode 1"
  # shellcheck disable=SC2086
  try memcheck $sanitizer "$folder/tests/gpu/gpu_test" --gtest_filter='*Windows*:Pointers*'
  # shellcheck disable=SC2086
  try memcheck-processes launch 2 env CHORUS_GPUS=0,0 $sanitizer "$bench" allreduce --memory device --algorithm all \
    -c -m 4:1M -i 2 -x 1
else
  echo "left out: compute-sanitizer of the CUDA Toolkit is not on the PATH"
fi

echo "== $(date -u +%F), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1)"
for report in topology copies guide nccl nccl-itself shared-1 shared-2 shared-4 allreduce-1 allreduce-2 allreduce-4 \
  mps-allreduce-2 mps-allreduce-4; do
  [ -e "$folder/gpu-$report.txt" ] || continue
  echo "-- $report"
  cat "$folder/gpu-$report.txt"
done
tail -n 3 "$folder/gpu-tests.txt"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
