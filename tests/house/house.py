#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""house.py ROOT: checks the layout of the source tree and prints each violation as FILE:LINE: what is wrong.

The rules and their reasons stand in docs/style.md; each function here that yields violations is one of them."""
import functools
import pathlib
import posixpath
import re
import sys

# Which folders a folder may include from, besides itself: the direction of dependencies.
may_include = {
    "include": [],
    "lib": ["include"],
    "collectives": ["lib", "include"],
    "strategies": ["include"],
    "examples": ["include"],
    "bench": ["collectives", "lib", "include"],
    "tools": ["bench", "collectives", "lib", "include"],
    "tests": ["bench", "tools", "strategies", "collectives", "lib", "include"],
}
# The other packages' headers, by how their names begin, and the paths that may include them.
packages = {
    "mpi.h": ["lib/transport/", "lib/preload/", "include/chorus/interop/", "bench/", "examples/", "tests/"],
    "simgrid/": ["lib/transport/smpi_", "bench/scaling/"],
    "hwloc": ["lib/topology/", "tests/"],
    "cuda.h": ["lib/device/", "tests/device/", "tests/strategies/gpus/", "tests/preload/device_memory.cpp"],
    "nccl.h": ["lib/device/", "tests/device/"],
    "hwy/": ["lib/kernels/", "tests/kernels/"],
    "fmt/": ["lib/", "collectives/", "strategies/", "tools/", "bench/", "examples/", "tests/"],
    "nlohmann/": ["lib/", "collectives/", "strategies/", "tools/", "bench/", "tests/"],
    "CLI/": ["tools/", "bench/", "examples/"],
    "Eigen/": ["examples/", "include/chorus/interop/", "tests/"],
    "unsupported/Eigen/": ["include/chorus/interop/", "tests/"],
    "zlib.h": ["strategies/", "examples/"],
    "cxxabi.h": ["strategies/type_text.cpp"],
    "gtest/": ["tests/"],
    "gmock/": ["tests/"],
}
# What stands on the library: neither it nor its public headers may include these.
above_the_library = "include/chorus/strategies/"
below_the_strategies = ("lib/", "collectives/", "include/")
operating_system = ["lib/", "strategies/checkpoint/", "strategies/resolvers/",
                    "tools/", "bench/", "examples/", "tests/"]
longest_file = 400
longest_algorithm = 150

machine_header = "lib/base/machine.hpp"
built_in_length = re.compile(r"constexpr std::size_t \w+ = (std::size_t\{\d+\} (\*|<<)|\d{4,})")

# What the precompiled headers bring, and who uses it must include: by the names that stand for it.
precompiled = {
    "fmt/format.h": r"fmt::(?!runtime)",
    "algorithm": r"std::(ranges::)?(all_of|any_of|copy|equal|fill|find|find_if|max|max_element|min|none_of|sort)\(",
    "array": r"std::array<",
    "atomic": r"std::(atomic\b|memory_order)",
    "chrono": r"std::chrono",
    "complex": r"std::complex<",
    "coroutine": r"std::(coroutine_handle|suspend_\w+)",
    "cstring": r"std::(mem(cpy|cmp|set|move)|strlen|strerror)\(",
    "exception": r"std::(exception\b|exception_ptr|current_exception|rethrow_exception)",
    "functional": r"std::function<",
    "map": r"std::map<",
    "memory": r"std::(unique_ptr|shared_ptr|make_unique|make_shared)\b",
    "mutex": r"std::(mutex|lock_guard|unique_lock|scoped_lock|call_once)\b",
    "optional": r"std::(optional|nullopt)\b",
    "ranges": r"std::(views|ranges::subrange)\b",
    "span": r"std::span\b",
    "string": r"std::(string\b|to_string)",
    "unordered_map": r"std::unordered_map<",
    "vector": r"std::vector\b",
    "gmock/gmock.h": r"\bEXPECT_THAT\b",
}

include_line = re.compile(r'\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")')
unfinished = re.compile(r"\b(TO[D]O|FIX[M]E|XX[X])\b")


class Tree:
    """The sources below `root`, each as its path from there and its lines."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        folders = [*may_include, "scripts", "slurm", ".ci"]
        inside = (path for folder in folders for path in (self.root / folder).rglob("*"))
        self.files = {path.relative_to(self.root).as_posix(): path.read_text(encoding="utf-8").splitlines()
                      for path in sorted([*self.root.glob("*"), *inside]) if path.is_file() and is_source(path)}
        self.resolve = functools.cache(self.resolve)

    def cpp(self):
        return {path: lines for path, lines in self.files.items() if path.endswith((".hpp", ".cpp", ".cu"))}

    def includes(self, path):
        """Yields (line number, name, whether it stands in quotes) of each include in `path`."""
        for number, line in enumerate(self.files[path], 1):
            match = include_line.match(line)
            if match:
                yield number, match[1] or match[2], match[2] is not None

    def resolve(self, path, name):
        """The file of the project that `path` means by `name`, or None."""
        for folder in pathlib.PurePosixPath(path).parents:
            near = posixpath.normpath((folder / name).as_posix())
            if near in self.files:
                return near
        for top in [*may_include[path.split("/")[0]], *may_include]:
            far = [file for file in self.files if file.startswith(top + "/") and file.endswith("/" + name)]
            if far:
                return min(far, key=len)
        return None


def is_source(path):
    if path.suffix in (".hpp", ".cpp", ".cu", ".py", ".in", ".build") or path.name == "meson_options.txt":
        return True
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def direction(tree):
    """Includes go one way: from the outside to the public headers, from the collectives to lib, never back."""
    for path in tree.cpp():
        top = path.split("/")[0]
        for number, name, quoted in tree.includes(path):
            if not quoted and not name.startswith("chorus/"):
                continue
            target = tree.resolve(path, name)
            if target is None:
                yield path, number, f"includes {name}, which is no file of the project"
            elif target.split("/")[0] not in [top, *may_include[top]]:
                yield path, number, f"{top} must not include {target}"


def strategies(tree):
    """The strategies stand on the library's public headers, which do not know them; those of interop may join both."""
    apart = (above_the_library, "include/chorus/interop/")
    for path in tree.cpp():
        if not path.startswith(below_the_strategies) or path.startswith(apart):
            continue
        for number, name, _ in tree.includes(path):
            target = tree.resolve(path, name)
            if target is not None and target.startswith(above_the_library):
                yield path, number, f"must not include {target}: strategies stand on the library"


def vendors(tree):
    """Each package is seen by those folders alone that wrap it; public headers see the standard library only."""
    for path in tree.cpp():
        for number, name, quoted in tree.includes(path):
            if quoted or name.startswith("chorus/"):
                continue
            allowed = next((paths for start, paths in packages.items() if name.startswith(start)), None)
            if allowed is None:
                standard = "." not in name and "/" not in name
                allowed = [""] if standard else operating_system
            if not path.startswith(tuple(allowed)):
                yield path, number, f"must not include <{name}>"


def cycles(tree):
    """No header includes itself by way of others."""
    targets = {path: [(number, tree.resolve(path, name)) for number, name, _ in tree.includes(path)]
               for path in tree.cpp()}
    finished, trail = set(), []

    def visit(path):
        trail.append(path)
        for number, target in targets[path]:
            if target in trail:
                yield path, number, "include cycle: " + " -> ".join([*trail[trail.index(target):], target])
            elif target in targets and target not in finished:
                yield from visit(target)
        finished.add(trail.pop())

    for path in targets:
        if path not in finished:
            yield from visit(path)


def lengths(tree):
    """A file can be read in one go, an algorithm on two screens."""
    names = registered(tree)
    for path, lines in tree.files.items():
        parts = path.split("/")
        algorithm = len(parts) == 3 and parts[0] == "collectives" and parts[2][:-4] in names.get(parts[1], [])
        limit = longest_algorithm if algorithm else longest_file
        if len(lines) > limit:
            yield path, limit + 1, f"{len(lines)} lines, {limit} are allowed"


def heads(tree):
    """Each file says its licence first; each header may be included twice."""
    for path, lines in tree.files.items():
        at = 1 if lines and lines[0].startswith("#!") else 0
        mark = "//" if path.endswith((".hpp", ".cpp", ".cu", ".cpp.in", ".hpp.in")) else "#"
        if lines[at:at + 1] != [mark + " SPDX-License-Identifier: Apache-2.0"]:
            yield path, at + 1, f'must be "{mark} SPDX-License-Identifier: Apache-2.0"'
        # Highway includes the -inl files once for each instruction set; what is precompiled is a main file itself.
        once = path.endswith(".hpp") and not path.endswith("-inl.hpp") and "/pch/" not in path
        if once and "#pragma once" not in lines:
            yield path, 1, "has no #pragma once"


def finished_work(tree):
    """What is not done is not in the tree."""
    for path, lines in tree.files.items():
        for number, line in enumerate(lines, 1):
            if unfinished.search(line):
                yield path, number, "unfinished: " + line.strip()


def registered(tree):
    """The algorithms in collectives/meson.build, by collective."""
    text = "\n".join(tree.files.get("collectives/meson.build", []))
    block = re.search(r"algorithm_names = \{(.*?)\}", text, re.DOTALL)
    rows = re.findall(r"'(\w+)':\s*\[([^\]]*)\]", block[1]) if block else []
    return {collective: re.findall(r"'(\w+)'", names) for collective, names in rows}


def folders(tree):
    """Where the algorithms of a collective stand, of those in collectives/meson.build that share another one's."""
    text = "\n".join(tree.files.get("collectives/meson.build", []))
    block = re.search(r"folders = \{(.*?)\}", text)
    return dict(re.findall(r"'(\w+)': '(\w+)'", block[1])) if block else {}


def algorithms(tree):
    """The list in collectives/meson.build and the sources in the collectives' folders are the same."""
    names = registered(tree)
    listed = {f"collectives/{collective}/{collective}.cpp" for collective in names}
    listed |= {f"collectives/{folders(tree).get(collective, collective)}/{name}.cpp"
               for collective in names for name in names[collective]}
    there = {path for path in tree.files if re.fullmatch(r"collectives/\w+/\w+\.cpp", path)}
    for path in sorted(there - listed):
        yield path, 1, "is not in the list of collectives/meson.build"
    for path in sorted(listed - there):
        yield "collectives/meson.build", 1, f"lists {path}, which is not there"


def documented(cell, collectives):
    """The algorithms of `collectives` that a cell names, as pairs: `a`, `b` (bcast, reduce); `c`, which is of all."""
    for names, of in re.findall(r"((?:`\w+`(?:, )?)+)(?: \(([^)]*)\))?", cell):
        left_out = re.fullmatch(r"all but (\w+)", of)
        some = set(collectives) - {left_out[1]} if left_out else set(re.findall(r"\w+", of)) or set(collectives)
        yield from ((collective, name) for collective in some for name in re.findall(r"\w+", names))


def algorithms_documented(tree):
    """docs/algorithms.md has a row for each algorithm below the heading of its collective, and its source."""
    document = tree.root / "docs" / "algorithms.md"
    text = document.read_text(encoding="utf-8") if document.is_file() else ""
    there = {(collective, name) for collective, names in registered(tree).items() for name in names}
    found = {"row": set(), "source": set()}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, *lines = section.splitlines()
        below = registered(tree) if heading == "Sources" else set(re.findall(r"\w+", heading)) & set(registered(tree))
        for line in lines:
            if below and line.startswith("| "):
                found["source" if heading == "Sources" else "row"].update(documented(line.split(" | ")[0], below))
    for what, pairs in found.items():
        for collective, name in sorted(there - pairs):
            yield "docs/algorithms.md", 1, f"has no {what} of {name} of {collective}"
    for collective, name in sorted(found["row"] - there):
        yield "docs/algorithms.md", 1, f"has a row of {name} of {collective}, which is not in collectives/meson.build"


def machine_lengths(tree):
    """The lengths at which machines behave otherwise stand in one header, and the documentation says where from."""
    for path, lines in tree.cpp().items():
        for number, line in enumerate(lines, 1):
            if path.startswith("collectives/") and built_in_length.search(line):
                yield path, number, f"a built-in length belongs into {machine_header}"
    document = tree.root / "docs" / "performance.md"
    told = document.read_text(encoding="utf-8") if document.is_file() else ""
    for number, line in enumerate(tree.files.get(machine_header, []), 1):
        name = re.match(r"inline constexpr std::size_t (\w+)", line)
        if name and f"`{name[1]}`" not in told:
            yield machine_header, number, f"{name[1]} is not in docs/performance.md"


def precompiled_headers(tree):
    """What is precompiled is included nevertheless: not every build precompiles."""
    closures = {}

    def closure(path):
        if path not in closures:
            closures[path] = set()  # for a cycle, which another rule tells of
            for _, name, _ in tree.includes(path):
                target = tree.resolve(path, name)
                closures[path] |= closure(target) if target else {name}
        return closures[path]

    for path, lines in tree.cpp().items():
        for header, names in precompiled.items():
            if header in closure(path):
                continue
            used = [number for number, line in enumerate(lines, 1) if re.search(names, line.split("//")[0])]
            if used:
                yield path, used[0], f"uses what <{header}> brings, and does not include it"


rules = [direction, strategies, vendors, cycles, lengths, heads, finished_work, algorithms, algorithms_documented,
         machine_lengths, precompiled_headers]


def violations(root):
    tree = Tree(root)
    return [f"{path}:{number}: {what}" for rule in rules for path, number, what in rule(tree)]


if __name__ == "__main__":
    found = violations(sys.argv[1])
    print("\n".join(found) if found else "the house is in order")
    sys.exit(1 if found else 0)
