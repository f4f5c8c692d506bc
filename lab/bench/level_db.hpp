// SPDX-License-Identifier: Apache-2.0
// LevelDB by its C interface, looked for when it is needed: neither the build nor anything else here depends on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

class LevelDb {
 public:
  enum class Open { existing, fresh };

  // `library` as for dlopen; empty: under the names that it has on the systems we know. Refuses what cannot be opened.
  LevelDb(const std::string& library, const std::string& folder, Open how);
  ~LevelDb();
  LevelDb(const LevelDb&) = delete;
  LevelDb& operator=(const LevelDb&) = delete;

  static std::string version(const std::string& library);

  void put(std::uint64_t key, const std::string& value);
  bool has(std::uint64_t key) const;  // reads the value too

 private:
  struct Interface;

  const Interface& api_;
  void *database_, *reading_, *writing_;
};

}  // namespace bench
