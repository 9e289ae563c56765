// SPDX-License-Identifier: Apache-2.0
#include "transport/site.hpp"

#include "topology/topology.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace chorus {
namespace {

/// Of the first package that has one.
std::string processor_of(const Topology::Object& object) {
  if (object.kind == Topology::Kind::package) return object.name;
  for (const Topology::Object& child : object.children) {
    if (std::string name = processor_of(child); !name.empty()) return name;
  }
  return {};
}

/// "Open MPI v4.1.4", "MPICH Version: 4.0.2": what comes first of all that it says about its build.
std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return {};
  const std::string_view all(text.data(), static_cast<std::size_t>(length));
  std::string name(all.substr(0, all.find_first_of(",\n")));
  std::ranges::replace(name, '\t', ' ');
  return name;
}

}  // namespace

Site this_machine_as_site() {
  const Topology& topology = this_machine();
  return {.mpi = {},
          .processor = processor_of(topology.machine),
          .cores = static_cast<int>(topology.cores_of(topology.machine.pus).count())};
}

Site this_site() {
  Site site = this_machine_as_site();
  site.mpi = mpi_library();
  return site;
}

}  // namespace chorus
