// SPDX-License-Identifier: Apache-2.0
// The command line of a family: options with a value (--threads 4) or without (--pin). Each family asks for those that
// it has, and then finish() refuses what nobody asked for. Bad input never returns: one line, and status 2.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

class Arguments {
 public:
  Arguments(std::string family, int count, char** words);

  bool flag(std::string_view option);

  double number(std::string_view option, double otherwise, double least, double most);
  std::uint64_t number(std::string_view option, std::uint64_t otherwise, std::uint64_t least, std::uint64_t most);

  // One of the choices, or any text if there are none; `otherwise` if the option is not given.
  std::string text(std::string_view option, std::string_view otherwise, const std::vector<std::string>& choices = {});

  // After the last question and before anything is measured.
  void finish() const;

 private:
  struct Given {
    std::string option, value;
    bool has_value = false;
  };

  bool given(std::string_view option) const;
  const Given* find(std::string_view option);  // asked for, from now on
  const std::string* value_of(std::string_view option);

  const std::string family_;
  std::vector<Given> given_;
  std::vector<std::string> asked_;
};

inline bool contains(const std::vector<std::string>& names, std::string_view name) {
  for (const auto& one : names)
    if (one == name) return true;
  return false;
}

// "a, b, c", for a message that lists the choices.
inline std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

}  // namespace bench
