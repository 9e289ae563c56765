// SPDX-License-Identifier: Apache-2.0
// A program of someone who has installed chorus: on two ranks each prints 3, the sum of both ranks' numbers.
#include <chorus/chorus.hpp>

#include <cstdio>

int main() {
  const chorus::Environment environment;
  const auto world = chorus::Communicator::world();
  chorus::barrier(world);
  const int sum = chorus::allreduce(world, world.rank() + 1, chorus::ReduceOp::sum);
  std::printf("sum %d\n", sum);
}
