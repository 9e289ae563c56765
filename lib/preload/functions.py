#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""functions.py HEADER COMPILER...: prints, as C++, the functions of MPI that libchorus-mpi.so defines, as HEADER declares
them to the compiler: of each collective the blocking form, which chorus takes over, and the nonblocking and persistent
ones, which it hands on; those with large counts, where MPI has them; and MPI_Finalize."""
import re
import subprocess
import sys

collectives = ["allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast", "exscan",
               "gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "scatter", "scatterv"]

prototype = re.compile(r"\bint\s+(MPIX?_(I?)(%s)(_init)?(?:_c)?)\s*\(([^()]*)\)" % "|".join(collectives), re.IGNORECASE)


def way(collective, nonblocking, persistent, name):
    if nonblocking or persistent:
        path = "nonblocking" if nonblocking else "persistent"
        return f'hand_on<Collective::{collective}, Path::{path}, "P{name}">'
    return f'take_over<Collective::{collective}, {"".join(word.capitalize() for word in collective.split("_"))}, "P{name}">'


def definition(name, parameters, arguments, call):
    own = f"own_{name}"
    return f"""
static int {own}({parameters}) {{
  return chorus::preload::{call}({arguments});
}}
int P{name}({parameters}) {{ return {own}({arguments}); }}
int {name}({parameters}) {{ return chorus::preload::pass_tools<{own}, "{name}">({arguments}); }}"""


def definition_of_collective(match):
    name, nonblocking, collective, persistent, parameters = match.groups()
    arguments = ", ".join(re.search(r"(\w+)(\[\])*$", parameter.strip())[1] for parameter in parameters.split(","))
    return definition(name, parameters, arguments, way(collective.lower(), nonblocking, persistent, name))


def main():
    declared = subprocess.run([*sys.argv[2:], "-E", "-P", "-xc", sys.argv[1]], stdout=subprocess.PIPE, text=True, check=True)
    for header in [*collectives, "attachment", "handed_on", "mpi_headers", "take_over"]:
        print(f'#include "preload/{header}.hpp"')
    print("\nusing namespace chorus;\nusing namespace chorus::preload;\n\nextern \"C\" {")
    for match in prototype.finditer(declared.stdout):
        print(definition_of_collective(match))
    print(definition("MPI_Finalize", "void", "", "finalize"))
    print("}")


main()
