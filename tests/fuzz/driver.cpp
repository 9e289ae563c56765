// SPDX-License-Identifier: Apache-2.0
// Stands in for libFuzzer where the compiler has none: fuzz ITERATIONS SEED_FILE... changes the seeds at random, the
// same way in every run (so that a crash comes again in a debugger), and gives them to the entry point.
#include "fuzz.hpp"

#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

class Mutator {
 public:
  explicit Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}

  /// A seed, changed in 0 to 8 places.
  std::string next() {
    std::string input = any_seed();
    for (std::size_t changes = below(9); changes > 0; --changes) change(input);
    return input;
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  const std::string& any_seed() { return seeds_[below(seeds_.size())]; }
  /// A place in `input`, its end among them.
  std::size_t place(std::string_view input) { return below(input.size() + 1); }
  std::string_view part(std::string_view text) { return text.substr(place(text), 1 + below(16)); }

  void change(std::string& input) {
    using namespace std::string_view_literals;
    static constexpr std::string_view tokens[] = {"\0"sv,    "\xFF"sv, "-"sv,    "9999999999999999999"sv,
                                                  "1e999"sv, "\n"sv,   "\""sv,   "{"sv,
                                                  "]"sv,     "="sv,    "null"sv, "\\ud800"sv,
                                                  "nan"sv,   "0x1"sv,  "\xC3"sv, "true"sv};
    const std::size_t at = place(input);
    switch (below(6)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(static_cast<unsigned char>(input[at]) ^ (1U << below(8)));
        break;
      case 1:
        if (at < input.size()) input[at] = static_cast<char>(below(256));
        break;
      case 2:
        input.erase(at, 1 + below(16));
        break;
      case 3:
        input.insert(at, std::string(part(input)));
        break;
      case 4:
        input.insert(at, tokens[below(std::size(tokens))]);
        break;
      default:
        input.replace(at, below(16), part(any_seed()));
        break;
    }
  }

  std::vector<std::string> seeds_;
  std::mt19937_64 random_{20240229};
};

std::string contents(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) throw std::runtime_error("usage: fuzz ITERATIONS SEED_FILE...");
  std::vector<std::string> seeds;
  for (const char* const path : std::vector<const char*>(argv + 2, argv + argc)) seeds.push_back(contents(path));
  Mutator mutator(std::move(seeds));
  const long iterations = std::stol(argv[1]);
  for (long iteration = 0; iteration < iterations; ++iteration) {
    const std::string input = mutator.next();
    try {
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    } catch (...) {
      std::cerr << "input " << iteration << ", which begins and ends with a bar: |" << input << "|\n";
      throw;
    }
  }
  std::cout << iterations << " inputs, nothing found\n";
} catch (const std::exception& error) {
  std::cerr << "fuzz: " << error.what() << '\n';
  return 1;
}
