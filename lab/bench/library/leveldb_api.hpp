// SPDX-License-Identifier: Apache-2.0
// LevelDB through its C interface. The library is loaded when a family needs it, so nothing else depends on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

class LevelDb {
 public:
  enum class Open { existing, fresh };

  // `library` is a name for dlopen, or empty for the usual names of LevelDB. The constructor refuses a database that
  // cannot be opened.
  LevelDb(const std::string& library, const std::string& folder, Open how);
  ~LevelDb();
  LevelDb(const LevelDb&) = delete;
  LevelDb& operator=(const LevelDb&) = delete;

  static std::string version(const std::string& library);

  void put(std::uint64_t key, const std::string& value);
  bool has(std::uint64_t key) const;  // also reads the value

 private:
  struct Interface;

  const Interface& api_;
  void *database_, *reading_, *writing_;
};

}  // namespace bench
