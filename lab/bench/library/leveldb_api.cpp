// SPDX-License-Identifier: Apache-2.0
#include "library/leveldb_api.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <type_traits>
#include <vector>

#include "harness/errors.hpp"

namespace bench {
namespace {

// A key has 16 digits, like those of db_bench.
struct Key {
  static constexpr std::size_t size = 16;
  char digits[size + 1];

  explicit Key(std::uint64_t number) {
    std::snprintf(digits, sizeof digits, "%016llu", static_cast<unsigned long long>(number % 10'000'000'000'000'000));
  }
};

void* load(const std::string& library) {
  const std::vector<std::string> names =
      library.empty() ? std::vector<std::string>{"libleveldb.so.1d", "libleveldb.so.1", "libleveldb.so"}
                      : std::vector<std::string>{library};
  for (const auto& name : names)
    if (void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  refuse("leveldb: no library " + names.front() + ": apt-get install libleveldb1d");
}

}  // namespace

// The functions of leveldb/c.h that this file calls, with void for its opaque types.
struct LevelDb::Interface {
  void* (*options_create)();
  void (*options_destroy)(void*);
  void (*options_set_create_if_missing)(void*, unsigned char);
  void (*options_set_error_if_exists)(void*, unsigned char);
  void* (*open)(const void* options, const char* name, char** error);
  void (*close)(void*);
  void* (*readoptions_create)();
  void (*readoptions_destroy)(void*);
  void* (*writeoptions_create)();
  void (*writeoptions_destroy)(void*);
  void (*put)(void*, const void* options, const char* key, std::size_t, const char* value, std::size_t, char** error);
  char* (*get)(void*, const void* options, const char* key, std::size_t, std::size_t* length, char** error);
  void (*free)(void*);
  int (*major_version)();
  int (*minor_version)();

  explicit Interface(const std::string& library) {
    void* const handle = load(library);
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      if (function == nullptr) refuse("leveldb: the library has no " + std::string(name));
    };
    find(options_create, "leveldb_options_create");
    find(options_destroy, "leveldb_options_destroy");
    find(options_set_create_if_missing, "leveldb_options_set_create_if_missing");
    find(options_set_error_if_exists, "leveldb_options_set_error_if_exists");
    find(open, "leveldb_open");
    find(close, "leveldb_close");
    find(readoptions_create, "leveldb_readoptions_create");
    find(readoptions_destroy, "leveldb_readoptions_destroy");
    find(writeoptions_create, "leveldb_writeoptions_create");
    find(writeoptions_destroy, "leveldb_writeoptions_destroy");
    find(put, "leveldb_put");
    find(get, "leveldb_get");
    find(free, "leveldb_free");
    find(major_version, "leveldb_major_version");
    find(minor_version, "leveldb_minor_version");
  }

  // The first call chooses the library.
  static const Interface& of(const std::string& library) {
    static const Interface interface(library);
    return interface;
  }
};

// Two options say whether the database must exist or must not. All others have LevelDB's own defaults, as in db_bench.
LevelDb::LevelDb(const std::string& library, const std::string& folder, Open how) : api_(Interface::of(library)) {
  void* const options = api_.options_create();
  api_.options_set_create_if_missing(options, how == Open::fresh);
  api_.options_set_error_if_exists(options, how == Open::fresh);
  char* error = nullptr;
  database_ = api_.open(options, folder.c_str(), &error);
  if (error != nullptr) {
    const char* const remedy =
        how == Open::fresh ? "; --fill creates a new folder inside an existing one" : "; --fill creates a database";
    refuse("leveldb: " + std::string(error) + remedy);
  }
  api_.options_destroy(options);
  reading_ = api_.readoptions_create();
  writing_ = api_.writeoptions_create();
}

LevelDb::~LevelDb() {
  api_.writeoptions_destroy(writing_);
  api_.readoptions_destroy(reading_);
  api_.close(database_);
}

std::string LevelDb::version(const std::string& library) {
  const auto& api = Interface::of(library);
  return std::to_string(api.major_version()) + "." + std::to_string(api.minor_version());
}

void LevelDb::put(std::uint64_t key, const std::string& value) {
  char* error = nullptr;
  api_.put(database_, writing_, Key(key).digits, Key::size, value.data(), value.size(), &error);
  if (error != nullptr) refuse("leveldb: " + std::string(error));
}

bool LevelDb::has(std::uint64_t key) const {
  char* error = nullptr;
  std::size_t length = 0;
  char* const value = api_.get(database_, reading_, Key(key).digits, Key::size, &length, &error);
  if (error != nullptr) refuse("leveldb: " + std::string(error));
  const bool present = value != nullptr;
  api_.free(value);
  return present;
}

}  // namespace bench
