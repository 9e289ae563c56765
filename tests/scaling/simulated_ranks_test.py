#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""16 simulated ranks on 8 hosts: every algorithm gives right results, in times that do not depend on this machine."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

hosts, host_ranks = 8, 2
options = ["--log=root.thresh:warning", "--cfg=smpi/host-speed:10Gf", "--cfg=smpi/simulate-computation:no",
           "--cfg=smpi/wtime:0", "--cfg=smpi/os:0:2e-7:0", "--cfg=smpi/ois:0:2e-7:0", "--cfg=smpi/or:0:2e-7:0"]
platform = f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" radical="0-{hosts - 1}" suffix="" speed="10Gf" core="{host_ranks}"
           bw="12.5GBps" lat="300ns" loopback_bw="10GBps" loopback_lat="100ns"/>
</platform>
"""
reductions = ["allreduce", "reduce", "reduce_scatter_block", "scan", "exscan"]
movements = ["bcast", "allgather", "alltoall", "gather", "scatter"]


def run(*arguments, ranks=hosts * host_ranks, environment=None):
    """The finished process of chorus-scaling on that many ranks."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "platform.xml").write_text(platform, encoding="utf-8")
        (folder / "hosts").write_text("".join(f"node-{host}\n" * host_ranks for host in range(hosts)), encoding="utf-8")
        return subprocess.run(
            [os.environ["SMPIRUN"], "-no-privatize", "-quiet", "-np", str(ranks), "-platform", "platform.xml",
             "-hostfile", "hosts", *options, os.environ["PROGRAM"], *arguments],
            cwd=folder, env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=False, timeout=200)


def lines(finished):
    return [json.loads(line) for line in finished.stdout.splitlines() if line.startswith("{")]


class SimulatedRanks(unittest.TestCase):
    def check_all(self, collectives, ranks):
        finished = run(*collectives, "--sizes", "64,5K,200K", "--algorithms", "auto,all,mpi", "--check", ranks=ranks)
        self.assertEqual(finished.returncode, 0, finished.stdout + finished.stderr)
        points = lines(finished)
        self.assertEqual({point["collective"] for point in points}, set(collectives))
        for point in points:
            self.assertTrue(point["valid"], point)
            self.assertGreater(point["median_us"], 0, point)
        return points

    def test_reduce_rightly_by_every_algorithm(self):
        self.check_all(reductions, 16)

    def test_move_data_rightly_by_every_algorithm(self):
        self.check_all(movements, 16)

    def test_of_a_number_that_no_power_divides_get_right_results(self):
        self.check_all(["allreduce", "bcast", "allgather", "alltoall", "reduce_scatter_block"], 13)

    def test_know_their_nodes(self):
        names = {point["algorithm"] for point in self.check_all(["allreduce"], 16)}
        self.assertIn("hierarchical", names)

    def test_take_the_same_time_again(self):
        twice = [run("allreduce", "bcast", "--sizes", "8,64K").stdout for _ in range(2)]
        self.assertEqual(twice[0], twice[1])

    def test_wait_for_a_message_no_longer_than_it_takes(self):
        # From the root to a rank on another host: two links of 300 ns, 200 ns at each end.
        [point] = lines(run("bcast", "--sizes", "8", "--algorithms", "binomial", ranks=3))
        first, second = 1.0, 0.5
        self.assertLess(point["median_us"], 2 * (first + second))


class CommandLine(unittest.TestCase):
    def test_refuses_what_it_does_not_know(self):
        for arguments, word in ((["allreduced"], "allreduce"), (["bcast", "--sizes", "many"], "many")):
            finished = run(*arguments, ranks=2)
            self.assertNotEqual(finished.returncode, 0)
            self.assertIn(word, finished.stderr)

    def test_refuses_settings_that_are_wrong(self):
        finished = run("bcast", "--sizes", "8", ranks=2, environment={"CHORUS_BCAST": "binomal"})
        self.assertNotEqual(finished.returncode, 0)
        self.assertIn("binomial", finished.stderr)


if __name__ == "__main__":
    unittest.main()
