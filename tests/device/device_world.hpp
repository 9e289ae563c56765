// SPDX-License-Identifier: Apache-2.0
#pragma once

// What devices there are for a test's ranks: those that the doubles of CUDA and NCCL pretend (double_world.cpp), or the
// machine's own (gpu/gpu_world.cpp). A program of tests is linked with one of the two.
namespace chorus::test {

/// Starts CUDA, and forgets what a test before has done.
void begin_world();
/// Of the calling thread, which runs `rank` from here on.
void enter_world(int rank);
/// Expects that nothing has gone wrong on the devices since begin_world, and that nothing is left there.
void end_world();

}  // namespace chorus::test
