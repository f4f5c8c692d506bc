// SPDX-License-Identifier: Apache-2.0
// The command line of a family: options with a value (--threads 4) and flags (--pin).
//
// A family asks for each option that it has, and then calls finish(), which refuses all others. Bad input prints one
// line and ends the program with status 2, so no function here returns an error.
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

  double number(std::string_view option, double fallback, double least, double most);
  std::uint64_t number(std::string_view option, std::uint64_t fallback, std::uint64_t least, std::uint64_t most);

  // The value of an option, or `fallback` if it is not given. It must be one of the choices, if there are any.
  std::string text(std::string_view option, std::string_view fallback, const std::vector<std::string>& choices = {});

  // Refuse every option that the family has not asked for.
  void finish() const;

 private:
  struct Option {
    std::string name, value;
    bool has_value = false;
  };

  const Option* find(std::string_view option) const;
  const Option* look_up(std::string_view option);  // find it, and remember that the family has it
  const std::string* value_of(std::string_view option);

  const std::string family_;
  std::vector<Option> given_;
  std::vector<std::string> known_;  // the options that the family has asked for
};

inline bool contains(const std::vector<std::string>& names, std::string_view wanted) {
  for (const auto& name : names)
    if (name == wanted) return true;
  return false;
}

// "a, b, c", for a message that lists the choices.
inline std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace bench
