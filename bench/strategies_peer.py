#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench/compare_strategies.py measures of a peer, on every rank that mpirun starts:
  mpirun -n RANKS python3 bench/strategies_peer.py ddp|horovod

Rank 0 prints a JSON object of median times in microseconds, the slowest rank's: "4", "65536", "1048576" of an all-reduce of
so many bytes of float32; of 100 tensors of 10 kB "one by one", and "in packs" as the peer itself packs them."""
import json
import os
import statistics
import sys
import time

tensors, tensor_floats = 100, 2500
sizes = (4, 65536, 1048576)


class Torch:
    """PyTorch's collectives over Gloo. In packs: what DistributedDataParallel adds to a backward pass."""

    def __init__(self, rank, size):
        import torch
        self.torch, self.comm = torch, torch.distributed
        torch.set_num_threads(1)
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29517")
        self.comm.init_process_group("gloo", rank=rank, world_size=size)

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.parts = torch.nn.ParameterList([torch.nn.Parameter(torch.ones(tensor_floats)) for _ in range(tensors)])

            def forward(self, factor):
                return sum((part * factor).sum() for part in self.parts)

        self.alone = Model()
        self.model = torch.nn.parallel.DistributedDataParallel(Model(), gradient_as_bucket_view=True)

    def values(self, floats):
        return self.torch.zeros(floats)

    def reduce(self, value):
        self.comm.all_reduce(value)

    def slowest(self, microseconds):
        value = self.torch.tensor([microseconds], dtype=self.torch.float64)
        self.comm.all_reduce(value, op=self.comm.ReduceOp.MAX)
        return value.item()

    def step(self, model):
        model(self.torch.ones(())).backward()

    def packed(self, measure):
        return measure(lambda: self.step(self.model)) - measure(lambda: self.step(self.alone))


class Horovod:
    """horovod.torch. In packs: grouped_allreduce_."""

    def __init__(self, _rank, _size):
        import horovod.torch
        import torch
        self.torch, self.hvd = torch, horovod.torch
        torch.set_num_threads(1)
        self.hvd.init()
        self.gradients = [torch.zeros(tensor_floats) for _ in range(tensors)]

    def values(self, floats):
        return self.torch.zeros(floats)

    def reduce(self, value):
        self.hvd.allreduce_(value, op=self.hvd.Sum, name=f"of {value.numel()}")

    def slowest(self, microseconds):
        value = self.torch.tensor([microseconds], dtype=self.torch.float64)
        return self.hvd.allgather(value, name="times").max().item()

    def packed(self, measure):
        return measure(lambda: self.hvd.grouped_allreduce_(self.gradients, op=self.hvd.Sum, name="gradients"))


peers = {"ddp": Torch, "horovod": Horovod}


def main(arguments):
    if arguments in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    if len(arguments) != 1 or arguments[0] not in peers:
        print(f"strategies_peer.py: wants one of {', '.join(peers)} (see --help)", file=sys.stderr)
        return 2
    rank, size = (int(os.environ[f"OMPI_COMM_WORLD_{what}"]) for what in ("RANK", "SIZE"))
    peer = peers[arguments[0]](rank, size)

    def measure(call, calls=60, warmup=10):
        for _ in range(warmup):
            call()
        times = []
        for _ in range(calls):
            began = time.perf_counter()
            call()
            times.append(time.perf_counter() - began)
        return peer.slowest(statistics.median(times) * 1e6)

    found = {}
    for bytes_ in sizes:
        value = peer.values(bytes_ // 4)
        found[str(bytes_)] = measure(lambda value=value: peer.reduce(value))
    gradients = [peer.values(tensor_floats) for _ in range(tensors)]

    def one_by_one():
        for gradient in gradients:
            peer.reduce(gradient)

    found["one by one"] = measure(one_by_one)
    found["in packs"] = peer.packed(measure)
    if rank == 0:
        print(json.dumps(found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
