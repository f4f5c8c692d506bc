#include "options.hpp"

#include <algorithm>
#include <charconv>

#include "common.hpp"

namespace bench {
namespace {

template <class Number>
Number number(std::string_view option, std::string_view text, Number least, Number most) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most)) {
    char range[64];
    std::snprintf(range, sizeof range, "%g to %g", static_cast<double>(least), static_cast<double>(most));
    refuse(std::string(option) + ": not '" + std::string(text) + "' but a number from " + range);
  }
  return value;
}

// Empty text is one empty name: that of nothing there is.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    if (comma > 0) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  if (parts.empty()) parts.emplace_back();
  return parts;
}

void choose(Options& options, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (Part* part : options.parts()) {
    known.emplace_back(part->name);
    part->wanted = contains(names, part->name);
  }
  for (const auto& name : names)
    if (!contains(known, name)) refuse("--only: unknown part '" + name + "' (parts: " + joined(known) + ")");
}

// The parts keep their proportions.
void divide(Options& options, double seconds) {
  double wanted = 0;
  for (const Part* part : options.parts()) wanted += part->wanted ? part->seconds : 0;
  for (Part* part : options.parts()) part->seconds *= seconds / wanted;
}

}  // namespace

Options parse(int argc, char** argv) {
  constexpr std::string_view known[] = {"--only", "--seconds", "--rounds", "--threads",
                                        "--crowd", "--hogs", "--locks", "--policies"};
  Options options;
  double seconds = 0;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    if (std::find(std::begin(known), std::end(known), option) == std::end(known))
      refuse("unknown option '" + std::string(option) + "' (options: " + joined(known) + ")");
    if (i + 1 == argc) refuse(std::string(option) + ": needs a value");
    const std::string_view value = argv[i + 1];
    if (option == "--only") choose(options, split(value));
    if (option == "--seconds") seconds = number(option, value, 0.1, 3600.0);
    if (option == "--rounds") {
      const auto rounds = number(option, value, 1u, 10000u);
      for (Part* part : options.parts()) part->rounds = rounds;
    }
    if (option == "--threads") options.threads = number(option, value, 2u, most_threads);
    if (option == "--crowd") options.crowd = number(option, value, 2u, most_threads);
    if (option == "--hogs") options.hogs = number(option, value, 1u, 64u);
    if (option == "--locks") options.locks = split(value);
    if (option == "--policies") options.policies = split(value);
  }
  if (seconds != 0) divide(options, seconds);
  return options;
}

}  // namespace bench
