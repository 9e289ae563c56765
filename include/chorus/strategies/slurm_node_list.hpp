// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace chorus {

/// The hosts of a Slurm node list, such as those of SLURM_STEP_NODELIST, in the order of the list.
///
/// "rack[1-2]n[08-10]-ib,login" is rack1n08-ib, rack1n09-ib, rack1n10-ib, rack2n08-ib, rack2n09-ib, rack2n10-ib, login:
/// a host may have several brackets, the last runs fastest; numbers have at least as many digits as their range's
/// first.
///
/// Throws   Error{invalid_argument} with the place in the text where it is malformed, a range runs backwards, a name is
///          longer than 255 characters or there are more than 65536 hosts.
[[nodiscard]] CHORUS_API std::vector<std::string> expand_nodelist(std::string_view text);

/// The numbers of tasks of each node in a text such as that of SLURM_STEP_TASKS_PER_NODE: "3(x2),2" is 3, 3, 2.
///
/// Throws   Error{invalid_argument} with the place in the text where it is malformed or there are more than 65536
///          nodes.
[[nodiscard]] CHORUS_API std::vector<int> expand_tasks_per_node(std::string_view text);

}  // namespace chorus
