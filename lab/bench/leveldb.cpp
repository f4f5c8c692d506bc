// SPDX-License-Identifier: Apache-2.0
// Family `leveldb`: threads that read random keys of a LevelDB database, as `readrandom` of its db_bench does. (TWA
// paper, section 4.4; Hapax paper, section 6.2.) The locks are LevelDB's, above all the one of the database.
//
//   --db FOLDER       the database; it stays
//   --entries N       how many it has
//   --fill            make it, and measure nothing
//   --library NAME    another LevelDB than the system's
//   --version         which one that is, and nothing else
#include "family.hpp"
#include "generators.hpp"
#include "level_db.hpp"
#include "library_lock.hpp"

namespace bench {
namespace {

// 100 bytes that can be compressed to about half, as db_bench's.
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

}  // namespace

const Family leveldb{"leveldb", "random reads of a LevelDB database", [](Arguments& arguments, Json& json) {
                       const Settings settings(arguments);
                       const auto folder = arguments.text("--db", "");
                       const auto library = arguments.text("--library", "");
                       const auto entries = arguments.number("--entries", std::uint64_t{1'000'000}, 1, 1'000'000'000);
                       const bool filling = arguments.flag("--fill"), asking = arguments.flag("--version");
                       arguments.finish();
                       json.text("version", LevelDb::version(library));
                       if (asking) return;
                       if (folder.empty()) refuse("leveldb: which database? --db FOLDER, and first once with --fill");
                       if (filling) return fill({library, folder, LevelDb::Open::fresh}, entries, settings.seed, json);

                       Crew crew(settings);
                       {
                         const LevelDb database(library, folder, LevelDb::Open::existing);
                         if (!database.has(entries - 1))
                           refuse("leveldb: " + folder + " has fewer than " + std::to_string(entries) +
                                  " entries; --entries says how many");
                         const Sample sample = repeat(crew, [&](unsigned i) {
                           Generator generator(Generator::Kind::xoroshiro128plus, settings.seed + i);
                           return [&database, entries, generator]() mutable {
                             if (!database.has(generator.below(entries))) fail("leveldb: an entry is missing");
                           };
                         });
                         crew.write_done(json, sample);
                         json.text("exclusion", "not asked");
                         crew.write_spent(json, sample);
                         write_preloaded(json);
                       }
                       write_mutexes(json, {"leveldb", library, folder,
                                            std::to_string(entries)});  // opens it too: one process at a time
                     }};

}  // namespace bench
