# SPDX-License-Identifier: Apache-2.0
"""A Python program that knows nothing of chorus: mpi4py's collectives, of buffers and of pickled objects."""
import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
total = ranks * (ranks - 1) // 2


def doubles(*values):
    return array.array("d", values)


def check(what, found, expected):
    if found != expected:
        print(f"{what} on rank {rank} of {ranks}: {found} instead of {expected}", flush=True)
        world.Abort(1)


def buffers(turn):
    out = doubles(0, 0)
    world.Allreduce(doubles(rank, turn), out, MPI.SUM)
    check("Allreduce", out, doubles(total, ranks * turn))
    world.Allreduce(MPI.IN_PLACE, out, MPI.MAX)
    check("Allreduce in place", out, doubles(total, ranks * turn))
    for root in range(ranks):
        data = doubles(root, turn) if rank == root else doubles(-1, -1)
        world.Bcast(data, root)
        check("Bcast", data, doubles(root, turn))
        out = doubles(0)
        world.Reduce(doubles(rank), out if rank == root else None, MPI.SUM, root)
        check("Reduce", out, doubles(total if rank == root else 0))
    out = doubles(*[-1] * ranks)
    world.Allgather(doubles(rank), out)
    check("Allgather", out, doubles(*range(ranks)))
    out = doubles(-1)
    world.Reduce_scatter_block(doubles(*[rank + of for of in range(ranks)]), out, MPI.SUM)
    check("Reduce_scatter_block", out, doubles(total + ranks * rank))
    out = doubles(*[-1] * ranks)
    world.Alltoall(doubles(*[ranks * rank + of for of in range(ranks)]), out)
    check("Alltoall", out, doubles(*[ranks * of + rank for of in range(ranks)]))
    out = doubles(-1)
    world.Scan(doubles(rank), out, MPI.SUM)
    check("Scan", out, doubles(rank * (rank + 1) // 2))
    world.Barrier()


# Rank r gives r + 1 numbers to all, or r to each rank, as numbers of rank r.
def layouts():
    counts = [of + 1 for of in range(ranks)]
    table = doubles(*[of for of in range(ranks) for _ in range(of + 1)])
    places = [of * (of + 1) // 2 for of in range(ranks)]
    own = doubles(*[rank] * (rank + 1))
    out = doubles(*[-1] * len(table))
    world.Allgatherv(own, [out, counts, places, MPI.DOUBLE])
    check("Allgatherv", out, table)
    for root in range(ranks):
        at_root = rank == root
        out = doubles(*[-1] * len(table))
        world.Gatherv(own, [out, counts, places, MPI.DOUBLE] if at_root else None, root)
        check("Gatherv", out, table if at_root else doubles(*[-1] * len(table)))
        out = doubles(*[-1] * (rank + 1))
        world.Scatterv([table, counts, places, MPI.DOUBLE] if at_root else None, out, root)
        check("Scatterv", out, own)
    given = doubles(*[rank] * (rank * ranks))
    out = doubles(*[-1] * total)
    world.Alltoallv([given, [rank] * ranks, MPI.DOUBLE], [out, list(range(ranks)), MPI.DOUBLE])
    check("Alltoallv", out, doubles(*[of for of in range(ranks) for _ in range(of)]))
    out = doubles(*[-1] * (rank + 1))
    world.Reduce_scatter(doubles(*[rank + of for of in table]), out, counts, MPI.SUM)
    check("Reduce_scatter", out, doubles(*[total + ranks * rank] * (rank + 1)))


def nonblocking(turn):
    sums, word, table = doubles(0), doubles(turn if rank == 0 else -1), doubles(*[-1] * ranks)
    requests = [world.Iallreduce(doubles(rank), sums, MPI.SUM), world.Ibcast(word, 0),
                world.Iallgather(doubles(rank), table), world.Ibarrier()]
    check("allreduce between", world.allreduce(rank), total)
    MPI.Request.Waitall(requests)
    check("Iallreduce", sums, doubles(total))
    check("Ibcast", word, doubles(turn))
    check("Iallgather", table, doubles(*range(ranks)))


def objects(turn):
    check("bcast", world.bcast({"turn": turn} if rank == 0 else None, 0), {"turn": turn})
    check("allgather", world.allgather("r" * rank), ["r" * of for of in range(ranks)])
    check("allreduce", world.allreduce([rank], MPI.SUM), list(range(ranks)))
    check("reduce", world.reduce(rank, MPI.MAX, 0), ranks - 1 if rank == 0 else None)
    check("gather", world.gather(rank, ranks - 1), list(range(ranks)) if rank == ranks - 1 else None)
    check("scatter", world.scatter(list(range(ranks)) if rank == 0 else None, 0), rank)


for repeat in range(6):
    buffers(repeat)
    layouts()
    nonblocking(repeat)
    objects(repeat)
half = world.Split(rank % 2, rank)
for repeat in range(15):
    check("allreduce on a half", half.allreduce(1), half.size)
half.Free()
if rank == 0:
    print(f"python: right on {ranks} ranks")
