// SPDX-License-Identifier: Apache-2.0
// Family `leveldb`: threads read random keys of a LevelDB database, like `readrandom` of its db_bench. (TWA paper,
// section 4.4; Hapax paper, section 6.2.) The locks are LevelDB's own, above all the lock of the database.
//
//   --db FOLDER       the database. It is not deleted
//   --entries N       how many entries it has
//   --fill            create the database, and measure nothing
//   --library NAME    a LevelDB other than the system's
//   --version         print only the version of LevelDB
#include "families/family.hpp"
#include "families/library_family.hpp"
#include "harness/errors.hpp"
#include "harness/generators.hpp"
#include "library/leveldb_api.hpp"

namespace bench {
namespace {

// 100 bytes that can be compressed to about half, like those of db_bench.
std::string value_from(Xoroshiro128Plus& generator) {
  std::string half(50, '\0');
  for (char& byte : half) byte = static_cast<char>(' ' + (generator() >> 32) % 95);
  return half + half;
}

void fill(LevelDb database, std::uint64_t entries, std::uint64_t seed, Json& json) {
  const auto from = Clock::now();
  Xoroshiro128Plus generator(seed);
  for (std::uint64_t key = 0; key < entries; ++key) database.put(key, value_from(generator));
  json.number("entries", entries);
  json.number("elapsed", Seconds(Clock::now() - from).count());
}

void run(Arguments& arguments, Json& json) {
  const CommonOptions options(arguments);
  const auto folder = arguments.text("--db", "");
  const auto library = arguments.text("--library", "");
  const auto entries = arguments.number("--entries", std::uint64_t{1'000'000}, 1, 1'000'000'000);
  const bool only_fill = arguments.flag("--fill"), only_version = arguments.flag("--version");
  arguments.finish();
  json.text("version", LevelDb::version(library));
  if (only_version) return;
  if (folder.empty()) refuse("leveldb: name a database with --db FOLDER; --fill creates one");
  if (only_fill) return fill({library, folder, LevelDb::Open::fresh}, entries, options.seed, json);

  Crew crew(options);
  {
    const LevelDb database(library, folder, LevelDb::Open::existing);
    if (!database.has(entries - 1))
      refuse("leveldb: " + folder + " has fewer than " + std::to_string(entries) +
             " entries; give their number with --entries");
    const Sample sample = repeat(crew, [&](unsigned i) {
      Generator generator(Generator::Kind::xoroshiro128plus, options.seed + i);
      return [&database, entries, generator]() mutable {
        if (!database.has(generator.below(entries))) fail("leveldb: an entry is missing");
      };
    });
    crew.write_episodes(json, sample);
    json.text("exclusion", "not checked");
    crew.write_costs(json, sample);
    write_preloaded(json);
  }  // closes the database, because the probe opens it, and LevelDB allows one process at a time
  write_mutexes(json, {"leveldb", library, folder, std::to_string(entries)});
}

}  // namespace

const Family leveldb{"leveldb", "random reads from a LevelDB database", run};

}  // namespace bench
