# SPDX-License-Identifier: Apache-2.0
"""The namespaces that a virtual cluster lives in."""
import os
import pathlib
import select
import signal
import subprocess
import sys

skipped = 77
mark = "VIRTUAL_CLUSTER"  # the variable of the processes inside
unshared = ["unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc"]
programs = ["unshare", "setpriv"]


def entered():
    return mark in os.environ


def new():
    """The beginning of a command that is to run in new ones."""
    return unshared + ([] if os.geteuid() == 0 else ["--map-root-user"])


def are_allowed():
    """Whether the system allows them; says so where it does not."""
    outcome = subprocess.run([*new(), "true"], capture_output=True, text=True, check=False)
    if outcome.returncode != 0:
        print(f"tests/cluster/run: this system allows no namespaces: {outcome.stderr.strip()}", file=sys.stderr)
    return outcome.returncode == 0


def enter(command):
    """Runs the command in new ones; returns its exit status when all of their processes have ended."""
    if not are_allowed():
        return skipped
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    dying_with_this = ["setpriv", "--pdeathsig", "KILL", *new(), *command]
    parent = subprocess.Popen(dying_with_this, env={**os.environ, mark: "1"})  # pylint: disable=consider-using-with
    try:
        status = parent.wait()
        return status if status >= 0 else 128 - status
    finally:
        end(parent)


def first_process(parent):
    """The one that `unshare`, whose process is `parent`, has started; None before and after."""
    try:
        children = pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="utf-8").split()
    except OSError:
        return None
    return int(children[0]) if children else None


def end(unshare):
    """Ends what `unshare` has started: with the first process of a namespace the kernel ends all."""
    first = first_process(unshare.pid)
    ended = select.poll()
    if first is not None:
        ended.register(os.pidfd_open(first), select.POLLIN)
    unshare.kill()
    unshare.wait()
    if first is not None:
        ended.poll()
