# SPDX-License-Identifier: Apache-2.0
"""The hosts of a virtual cluster, and the network between them."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import time

import namespaces

network = "10.77.0.0/24"
bridge = "cluster"
head = "10.77.0.254"  # the address of the cluster's own namespaces, which the hosts reach through the bridge
folder = pathlib.Path("/run/cluster")
agent = str(pathlib.Path(__file__).resolve().with_name("agent"))
scratch = "/run/scratch"  # each host has its own
programs = ["ip", "mount", "hostname", "nsenter"]


def shape(text):
    """The ranks of each host."""
    if match := re.fullmatch(r"([1-9]\d?)x([1-9]\d*)", text):
        return [int(match[2])] * int(match[1])
    if re.fullmatch(r"[1-9]\d*(,[1-9]\d*){0,98}", text):
        return [int(ranks) for ranks in text.split(",")]
    raise argparse.ArgumentTypeError(f"{text} is neither HOSTSxRANKS, up to 99 hosts, nor RANKS,RANKS,...")


def rate(text):
    """Of a link; tc knows more ways to write it."""
    if re.fullmatch(r"[1-9]\d*(\.\d+)?[kmgt]?(bit|bps)", text):
        return text
    raise argparse.ArgumentTypeError(f"{text} is no bandwidth such as 1gbit, 100mbit or 10mbps")


def call(*command):
    subprocess.run(command, check=True)


def wait_until(is_so, what, seconds=30):
    """Raises TimeoutError naming `what` where it takes longer."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError(f"the virtual cluster: {what} took longer than {seconds} s")
        time.sleep(0.02)


class Cluster:
    """Hosts named node1, node2, ... with so many ranks each."""

    def __init__(self, ranks):
        self.ranks_of_hosts = ranks

    @classmethod
    def start(cls, ranks, rate):
        """In new namespaces: mounts, the bridge and the hosts."""
        cluster = cls(ranks)
        call("mount", "-t", "tmpfs", "tmpfs", "/run")
        folder.mkdir()
        pathlib.Path(scratch).mkdir(mode=0o1777)
        os.environ["TMPDIR"] = scratch
        os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")  # as the hosts share the cores
        names = "".join(f"{address(number)} {name(number)}\n" for number in cluster.numbers())
        folder.joinpath("hosts").write_text(f"127.0.0.1 localhost\n{head} head\n{names}", encoding="utf-8")
        folder.joinpath("ranks").write_text(json.dumps(ranks), encoding="utf-8")
        call("mount", "--bind", folder / "hosts", "/etc/hosts")
        call("hostname", "head")
        call("ip", "link", "set", "lo", "up")
        call("ip", "link", "add", bridge, "type", "bridge")
        call("ip", "address", "add", f"{head}/24", "dev", bridge)
        call("ip", "link", "set", bridge, "up")
        for number in cluster.numbers():
            start_host(number, rate)
        return cluster

    @classmethod
    def running(cls):
        """The one that this is a process of; None outside."""
        if not folder.exists():
            return None
        return cls(json.loads(folder.joinpath("ranks").read_text(encoding="utf-8")))

    def numbers(self):
        return range(1, len(self.ranks_of_hosts) + 1)

    def names(self):
        return [name(number) for number in self.numbers()]

    def ranks(self):
        return sum(self.ranks_of_hosts)

    def places(self):
        """The hosts as mpirun takes them."""
        return ",".join(f"{name(number)}:{self.ranks_of_hosts[number - 1]}" for number in self.numbers())


def name(number):
    return f"node{number}"


def address(number):
    return f"10.77.0.{number}"


def start_host(number, rate):
    """Its first process keeps its namespaces; `agent` enters them."""
    first = (f"hostname {name(number)} && mount -t tmpfs tmpfs /dev/shm && mount -t tmpfs tmpfs {scratch} && "
             "ip link set lo up && exec sleep infinity")
    host = subprocess.Popen([*namespaces.unshared, "sh", "-c", first])  # pylint: disable=consider-using-with
    wait_until(lambda: is_set_up(namespaces.first_process(host.pid)), f"starting {name(number)}")
    pid = str(namespaces.first_process(host.pid))
    folder.joinpath(f"{name(number)}.pid").write_text(pid, encoding="utf-8")
    call("ip", "link", "add", name(number), "master", bridge, "type", "veth", "peer", "name", "eth0", "netns", pid)
    call("ip", "link", "set", name(number), "up")
    inside = ["nsenter", "--net", "--target", pid]
    call(*inside, "ip", "address", "add", f"{address(number)}/24", "dev", "eth0")
    call(*inside, "ip", "link", "set", "eth0", "up")
    if rate:  # what the host sends, and what it gets
        limit = ["root", "tbf", "rate", rate, "burst", "128kb", "latency", "50ms"]
        call(*inside, "tc", "qdisc", "add", "dev", "eth0", *limit)
        call("tc", "qdisc", "add", "dev", name(number), *limit)


def is_set_up(pid):
    return pid is not None and pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() == "sleep"
