# SPDX-License-Identifier: Apache-2.0
"""Slurm on the hosts of a virtual cluster: munged, slurmctld, and a slurmd on each host."""
import os
import pathlib
import subprocess
import sys

import hosts

folder = hosts.folder / "slurm"
config = folder / "slurm.conf"
programs = ["munged", "slurmctld", "slurmd", "sinfo", "srun", "sbatch"]

common = f"""ClusterName=virtual
SlurmctldHost=head({hosts.head})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
ReturnToService=2
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdSpoolDir={folder}/spool-%n
TmpFS={folder}/tmp-%n
"""


def is_running():
    return "SLURM_CONF" in os.environ


def start(cluster):
    """Returns when every host takes jobs."""
    folder.mkdir(parents=True)
    nodes = ""
    for number in cluster.numbers():
        node = hosts.name(number)
        nodes += f"NodeName={node} NodeAddr={hosts.address(number)} CPUs={cluster.ranks_of_hosts[number - 1]}\n"
        for private in ("spool", "tmp"):
            (folder / f"{private}-{node}").mkdir()
    nodes += f"PartitionName=all Nodes={','.join(cluster.names())} Default=YES OverSubscribe=NO\n"
    config.write_text(common + nodes, encoding="utf-8")
    os.environ["SLURM_CONF"] = str(config)
    start_munge()
    daemon("slurmctld", ["slurmctld", "-D"])
    for number in cluster.numbers():
        start_node(number)
    wait_until(lambda: states() == ["idle"] * len(cluster.names()), "starting Slurm")


def wait_until(is_so, what):
    """As hosts.wait_until; an error has the last that each of the daemons has said."""
    try:
        hosts.wait_until(is_so, what)
    except TimeoutError as error:
        said = [f"{output.name}:\n{output.read_text(encoding='utf-8', errors='replace')[-2000:]}"
                for output in sorted(folder.glob("*.out"))]
        raise TimeoutError("\n".join([str(error), *said])) from error


def start_munge():
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    socket = pathlib.Path("/run/munge/munge.socket.2")
    socket.parent.mkdir(mode=0o755)
    daemon("munged", ["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={socket}",
                      f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log",
                      f"--seed-file={folder}/munged.seed"])
    wait_until(socket.exists, "starting munged")


def start_node(number):
    node = hosts.name(number)
    pid = (hosts.folder / f"{node}.pid").read_text(encoding="utf-8")
    daemon(f"slurmd-{node}", ["nsenter", "--target", pid, "--net", "--uts", "--ipc", "--pid", "unshare", "--mount",
                              "--mount-proc", "--fork", "sh", "-c",
                              f"mount -t tmpfs tmpfs /dev/shm && mount -t tmpfs tmpfs {hosts.scratch} && "
                              f"exec slurmd -D -N {node}"])


def daemon(name, command):
    with open(folder / f"{name}.out", "wb") as output:
        subprocess.Popen(command, stdin=subprocess.DEVNULL,  # pylint: disable=consider-using-with
                         stdout=output, stderr=subprocess.STDOUT)


def states():
    """Of the nodes."""
    answer = subprocess.run(["sinfo", "--noheader", "--Node", "--format=%T"], capture_output=True, text=True,
                            check=False)
    return answer.stdout.split()


# How srun starts the ranks of each MPI library.
kinds = {"mpich": "pmi2", "openmpi": "pmix"}


def srun(cluster, mpi, command):
    return ["srun", f"--mpi={kinds[mpi]}", "-N", str(len(cluster.names())), "-n", str(cluster.ranks()), *command]


def batch(mpi, command):
    """Waits for the job, or those of an array, and prints what they wrote; returns the exit status, or the highest."""
    status = subprocess.run(["sbatch", "--wait", "--quiet", f"--output={folder}/%A-%a.job", *command], check=False,
                            env={**os.environ, "SLURM_MPI_TYPE": kinds[mpi]}).returncode
    for output in sorted(folder.glob("*.job"), key=lambda path: (len(path.name), path.name)):
        sys.stdout.write(output.read_text(encoding="utf-8", errors="replace"))
        output.unlink()
    return status
