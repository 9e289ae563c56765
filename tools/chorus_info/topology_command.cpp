// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "command.hpp"
#include "survey.hpp"
#include "svg.hpp"
#include "text.hpp"
#include "topology_json.hpp"

namespace chorus::info {
namespace {

struct Options {
  std::string input;  ///< empty: the machines of the job
  bool json = false;
  std::string svg;  ///< empty: no picture
};

Survey survey_described(const std::string& input) {
  try {
    Survey survey;
    survey.machines.push_back({Topology::described_by(input), {}});
    survey.title = input;
    return survey;
  } catch (const Error& error) {
    // Its message goes on with the name of the argument, which is that of the option.
    constexpr std::string_view function = "Topology::described_by: ";
    const std::string& message = error.message();
    throw UserError(message.starts_with(function) ? "--" + message.substr(function.size()) : message);
  }
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw UserError(fmt::format("--svg: cannot write {}: {}", path, std::strerror(errno)));
}

void show(const Survey& survey, const Options& options) {
  if (!options.svg.empty()) write_file(options.svg, report_svg(survey));
  if (options.json)
    fmt::print("{}\n", report_json(survey).dump(2));
  else
    fmt::print("{}", report_text(survey));
}

void run(const Communicator& world, const Options& options) {
  if (options.input.empty()) {
    const Survey survey = survey_job(world, Topology::of_this_machine(Topology::Devices::important));
    if (world.rank() == 0) show(survey, options);
  } else if (world.rank() == 0) {
    show(survey_described(options.input), options);
  }
}

}  // namespace

Action add_topology(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  command.add_option("--input", options->input,
                     "show this machine instead, without ranks: an XML file of hwloc, or a synthetic description like "
                     "\"pack:2 l3:4 core:8 pu:2\"");
  command.add_flag("--json", options->json, "print JSON");
  command.add_option("--svg", options->svg, "also draw a picture into this file")->type_name("FILE");
  command.footer(
      "Under mpirun it shows all ranks of the job, each at the smallest part of its machine that it is bound to. Where "
      "there are GPUs it also shows which one each rank takes (by nearest_gpu, or CHORUS_GPUS=0,0,1,1), how far away "
      "it "
      "is, and what limits those that it sees.");
  return [options](const Communicator& world) { run(world, *options); };
}

}  // namespace chorus::info
