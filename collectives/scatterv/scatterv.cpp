// SPDX-License-Identifier: Apache-2.0
#include <chorus/scatterv.hpp>

#include "door.hpp"
#include "section_table.hpp"

#include <memory>

namespace chorus::detail {

void scatterv(const Communicator& comm, const Buffers& buffers, const BlockLayout& blocks, int root,
              const CollectiveOptions& options) {
  const SectionTable table(comm.state());
  complete(comm.state(), checked_with_root(table, comm.state(), Collective::scatterv, buffers, blocks, root), options);
}

Request iscatterv(const Communicator& comm, const Buffers& buffers, const BlockLayout& blocks, int root,
                  const CollectiveOptions& options) {
  const auto sections = std::make_shared<LastingSections>(comm);
  return start(comm, checked_with_root(sections->table, comm.state(), Collective::scatterv, buffers, blocks, root),
               options, sections);
}

PersistentRequest scatterv_init(const Communicator& comm, const Buffers& buffers, const BlockLayout& blocks, int root,
                                const CollectiveOptions& options) {
  const auto sections = std::make_shared<LastingSections>(comm);
  return prepare(comm, checked_with_root(sections->table, comm.state(), Collective::scatterv, buffers, blocks, root),
                 options, sections);
}

}  // namespace chorus::detail
