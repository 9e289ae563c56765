// SPDX-License-Identifier: Apache-2.0
// Slurm's lists of nodes and of their tasks. Whatever stands there is rejected, or is what the same list spelled out
// is.
#include "fuzz.hpp"

#include <chorus/error.hpp>
#include <chorus/strategies/slurm_node_list.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace {

using chorus::fuzz::require;

void look_at_nodes(std::string_view text) {
  const std::vector<std::string> nodes = chorus::expand_nodelist(text);
  require(!nodes.empty() && nodes.size() <= 65536, "a number of nodes that cannot be");
  std::string spelled_out;
  for (const std::string& node : nodes) {
    require(!node.empty() && node.size() <= 255, "a name of a length that cannot be");
    require(node.find_first_of("[], \n") == std::string::npos, "a character that is no name's");
    spelled_out += node + ",";
  }
  require(nodes.size() > 100 || chorus::expand_nodelist(spelled_out) == nodes, "nodes that are not the same again");
}

void look_at_tasks(std::string_view text) {
  const std::vector<int> tasks = chorus::expand_tasks_per_node(text);
  require(!tasks.empty() && tasks.size() <= 65536, "a number of nodes that cannot be");
  for (const int count : tasks) require(count >= 0 && count <= 65536, "a number of tasks that cannot be");
}

template <class Look>
void only_errors_leave(Look look, std::string_view text) {
  try {
    look(text);
  } catch (const chorus::Error& error) {
    require(error.code() == chorus::ErrorCode::invalid_argument, error.what());
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  only_errors_leave(look_at_nodes, text);
  only_errors_leave(look_at_tasks, text);
  return 0;
}
