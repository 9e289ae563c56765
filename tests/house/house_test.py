#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that each rule of house.py finds what it is there for, in small trees that break one rule each."""
import pathlib
import tempfile
import unittest

import house

head = "// SPDX-License-Identifier: Apache-2.0\n"
header = head + "#pragma once\n"
good = {
    "meson.build": "# SPDX-License-Identifier: Apache-2.0\n",
    "collectives/meson.build": "# SPDX-License-Identifier: Apache-2.0\n"
                               "algorithm_names = {\n  'bcast': ['line',\n    'ring'],\n}\n",
    "collectives/bcast/bcast.cpp": head + '#include "algorithm.hpp"\n#include <chorus/bcast.hpp>\n',
    "collectives/bcast/line.cpp": head + '#include "algorithm.hpp"\n',
    "collectives/bcast/ring.cpp": head + '#include "algorithm.hpp"\n',
    "collectives/algorithm.hpp": header + '#include "base/call.hpp"\n#include <vector>\n',
    "include/chorus/bcast.hpp": header + "#include <chorus/detail/buffers.hpp>\n#include <span>\n",
    "include/chorus/detail/buffers.hpp": header + "#include <cstddef>\n",
    "lib/base/call.hpp": header,
    "lib/base/call.cpp": head + '#include "call.hpp"\n#include "base/call.hpp"\n#include <unistd.h>\n',
    "lib/kernels/copy-inl.hpp": head + "#include <hwy/highway.h>\n",
    "include/chorus/strategies/resolver.hpp": header + "#include <chorus/bcast.hpp>\n",
    "strategies/resolvers/resolver.cpp": head + "#include <chorus/strategies/resolver.hpp>\n"
                                         '#include "resolvers/launch.hpp"\n#include <fmt/format.h>\n',
    "strategies/resolvers/launch.hpp": header,
    "tools/chorus_info/plan.hpp": header + '#include "algorithm.hpp"\n',
    "tests/tools/plan_test.cpp": head + '#include "plan.hpp"\n#include <gtest/gtest.h>\n',
    "examples/sum/main.cpp": head + "#include <chorus/bcast.hpp>\n#include <mpi.h>\n",
    "lib/base/machine.hpp": header + "inline constexpr std::size_t slot_bytes = std::size_t{128} << 10U;\n",
    "docs/performance.md": "| `slot_bytes` | 128 KiB |\n",
    "docs/algorithms.md": "## bcast\n| `line` | node |\n| `ring` | any |\n"
                          "## Sources\n| `line` (all but barrier); `ring` (bcast) | a paper |\n",
    "scripts/run": "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n",
    "scripts/notes": "no script and no source\n",
}


def found(changes):
    """What house.py says of the good tree with `changes`: by path, the new text, or None to remove the file."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {**good, **changes}.items():
            if text is not None:
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
        return house.violations(folder)


class House(unittest.TestCase):
    def expect(self, changes, *expected):
        self.assertEqual(found(changes), list(expected))

    def test_good_tree(self):
        self.expect({})

    def test_lib_knows_no_collective(self):
        self.expect({"lib/base/call.cpp": head + '#include "algorithm.hpp"\n'},
                    "lib/base/call.cpp:2: lib must not include collectives/algorithm.hpp")

    def test_public_headers_know_nothing_inside(self):
        self.expect({"include/chorus/bcast.hpp": header + '#include "base/call.hpp"\n'},
                    "include/chorus/bcast.hpp:3: include must not include lib/base/call.hpp")

    def test_examples_see_public_headers_only(self):
        self.expect({"examples/sum/main.cpp": head + '#include "plan.hpp"\n'},
                    "examples/sum/main.cpp:2: examples must not include tools/chorus_info/plan.hpp")

    def test_strategies_see_public_headers_and_their_own_only(self):
        self.expect({"strategies/mirrored.cpp": head + '#include "base/call.hpp"\n#include "algorithm.hpp"\n'
                                                '#include "resolvers/launch.hpp"\n#include <mpi.h>\n'},
                    "strategies/mirrored.cpp:2: strategies must not include lib/base/call.hpp",
                    "strategies/mirrored.cpp:3: strategies must not include collectives/algorithm.hpp",
                    "strategies/mirrored.cpp:5: must not include <mpi.h>")

    def test_nobody_below_knows_the_strategies(self):
        include = "#include <chorus/strategies/resolver.hpp>\n"
        self.expect({"lib/base/call.hpp": header + include, "collectives/bcast/ring.cpp": head + include,
                     "include/chorus/bcast.hpp": header + include.replace("resolver", "detail/plan"),
                     "include/chorus/strategies/detail/plan.hpp": header, "tests/tools/plan_test.cpp": head + include},
                    *(f"{path}: must not include include/chorus/strategies/{name}.hpp: strategies stand on the library"
                      for path, name in (("collectives/bcast/ring.cpp:2", "resolver"),
                                         ("include/chorus/bcast.hpp:3", "detail/plan"),
                                         ("lib/base/call.hpp:3", "resolver"))))

    def test_only_resolvers_call_the_operating_system(self):
        self.expect({"strategies/resolvers/resolver.cpp": head + "#include <unistd.h>\n",
                     "strategies/mirrored.cpp": head + "#include <unistd.h>\n"},
                    "strategies/mirrored.cpp:2: must not include <unistd.h>")

    def test_nobody_includes_tests(self):
        self.expect({"tests/worlds.hpp": header, "tools/chorus_info/plan.hpp": header + '#include "worlds.hpp"\n'},
                    "tools/chorus_info/plan.hpp:3: tools must not include tests/worlds.hpp")

    def test_included_files_are_there(self):
        self.expect({"lib/base/call.cpp": head + '#include <chorus/missing.hpp>\n'},
                    "lib/base/call.cpp:2: includes chorus/missing.hpp, which is no file of the project")

    def test_vendors_headers_stay_where_they_are_wrapped(self):
        self.expect({"collectives/bcast/ring.cpp": head + "# include <mpi.h>\n",
                     "lib/base/call.cpp": head + "#include <hwloc/linux.h>\n",
                     "tools/chorus_info/plan.hpp": header + "#include <hwy/highway.h>\n"},
                    "collectives/bcast/ring.cpp:2: must not include <mpi.h>",
                    "lib/base/call.cpp:2: must not include <hwloc/linux.h>",
                    "tools/chorus_info/plan.hpp:3: must not include <hwy/highway.h>")

    def test_collectives_do_not_call_the_operating_system(self):
        self.expect({"collectives/bcast/ring.cpp": head + "#include <sys/mman.h>\n"},
                    "collectives/bcast/ring.cpp:2: must not include <sys/mman.h>")

    def test_public_headers_include_the_standard_library_only(self):
        self.expect({"include/chorus/bcast.hpp": header + "#include <mpi.h>\n#include <fmt/format.h>\n",
                     "include/chorus/interop/mpi.hpp": header + "#include <mpi.h>\n"},
                    "include/chorus/bcast.hpp:3: must not include <mpi.h>",
                    "include/chorus/bcast.hpp:4: must not include <fmt/format.h>")

    def test_include_cycles(self):
        self.expect({"lib/base/a.hpp": header + '#include "base/b.hpp"\n',
                     "lib/base/b.hpp": header + '#include "a.hpp"\n'},
                    "lib/base/b.hpp:3: include cycle: lib/base/a.hpp -> lib/base/b.hpp -> lib/base/a.hpp")

    def test_long_files(self):
        self.expect({"lib/base/call.cpp": head + "\n" * 400, "collectives/bcast/ring.cpp": head + "\n" * 150,
                     "collectives/bcast/bcast.cpp": head + "\n" * 150},
                    "collectives/bcast/ring.cpp:151: 151 lines, 150 are allowed",
                    "lib/base/call.cpp:401: 401 lines, 400 are allowed")

    def test_heads(self):
        self.expect({"lib/base/call.hpp": head, "lib/base/call.cpp": "\n" + head, "scripts/run": "#!/bin/sh\n",
                     "meson_options.txt": "option()\n"},
                    "lib/base/call.cpp:1: must be \"// SPDX-License-Identifier: Apache-2.0\"",
                    "lib/base/call.hpp:1: has no #pragma once",
                    "meson_options.txt:1: must be \"# SPDX-License-Identifier: Apache-2.0\"",
                    "scripts/run:2: must be \"# SPDX-License-Identifier: Apache-2.0\"")

    def test_unfinished_work(self):
        for word in ("TO" "DO", "FIX" "ME"):
            line = f"// {word}: later"
            self.expect({"lib/base/call.cpp": head + line + "\n"}, f"lib/base/call.cpp:2: unfinished: {line}")

    def test_algorithms_that_are_not_listed(self):
        self.expect({"collectives/bcast/tree.cpp": head},
                    "collectives/bcast/tree.cpp:1: is not in the list of collectives/meson.build")

    def test_algorithms_in_the_folder_of_another_collective(self):
        two = {"collectives/meson.build": "# SPDX-License-Identifier: Apache-2.0\n"
                                          "algorithm_names = {\n  'bcast': ['line', 'ring'],\n  'reduce': ['ring'],\n}\n"
                                          "folders = {'reduce': 'bcast'}\n",
               "docs/algorithms.md": good["docs/algorithms.md"].replace("## bcast", "## bcast and reduce")
                                     .replace("(bcast)", "(bcast, reduce)").replace("`line` |", "`line` (bcast) |"),
               "collectives/reduce/reduce.cpp": head}
        self.expect(two)
        self.expect({**two, "collectives/reduce/ring.cpp": head},
                    "collectives/reduce/ring.cpp:1: is not in the list of collectives/meson.build")

    def test_algorithms_that_are_not_there(self):
        self.expect({"collectives/bcast/ring.cpp": None},
                    "collectives/meson.build:1: lists collectives/bcast/ring.cpp, which is not there")

    def test_algorithms_that_are_not_documented(self):
        self.expect({"docs/algorithms.md": "## bcast and reduce\n| `line` (bcast), `tree` (bcast) | node |\n"
                                           "| `ring` (reduce) | any |\n## Sources\n| `line`, `ring` (all but bcast) |\n"},
                    "docs/algorithms.md:1: has no row of ring of bcast",
                    "docs/algorithms.md:1: has no source of line of bcast",
                    "docs/algorithms.md:1: has no source of ring of bcast",
                    "docs/algorithms.md:1: has a row of tree of bcast, which is not in collectives/meson.build",
                    "docs/algorithms.md:1: has a row of ring of reduce, which is not in collectives/meson.build")

    def test_lengths_of_machines_stand_in_one_header_and_in_the_documentation(self):
        for length in ("std::size_t{64} << 10U", "std::size_t{64} * 1024", "4096"):
            self.expect({"collectives/bcast/line.cpp": head + f"constexpr std::size_t longest = {length};\n"},
                        "collectives/bcast/line.cpp:2: a built-in length belongs into lib/base/machine.hpp")
        self.expect({"docs/performance.md": "none\n"},
                    "lib/base/machine.hpp:3: slot_bytes is not in docs/performance.md")

    def test_what_is_precompiled_is_included(self):
        use = "std::vector<int> numbers;  // std::array<int, 3>\n"
        self.expect({"collectives/bcast/ring.cpp": head + '#include "base/call.hpp"\n' + use},
                    "collectives/bcast/ring.cpp:3: uses what <vector> brings, and does not include it")
        self.expect({"collectives/bcast/ring.cpp": head + '#include "algorithm.hpp"\n' + use})


if __name__ == "__main__":
    unittest.main()
