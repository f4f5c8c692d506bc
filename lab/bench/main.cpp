// SPDX-License-Identifier: Apache-2.0
// fairlock_bench: measures fairlock's locks and semaphores, and what a program could use instead.
//
// The exit status is 2 for bad input, and 1 for a lock that does not work. Then the program prints one line on stderr,
// and nothing on stdout.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>

#include "families/family.hpp"
#include "harness/errors.hpp"
#include "harness/generators.hpp"
#include "list_command.hpp"

namespace bench {
namespace {

const Family& family_named(const char* name) {
  std::string known = "list";
  for (const Family* family : families()) {
    if (std::strcmp(family->name, name) == 0) return *family;
    known += std::string(", ") + family->name;
  }
  refuse("unknown family '" + std::string(name) + "' (one of: " + known + ")");
}

void help() {
  std::puts(
      "usage: fairlock_bench FAMILY [--OPTION VALUE ...]   take a sample, and print it as a JSON object\n"
      "       fairlock_bench list                          print what can be measured, as JSON\n"
      "\n"
      "families of workloads:");
  for (const Family* family : families()) std::printf("  %-22s %s\n", family->name, family->summary);
  std::puts(
      "\n"
      "options of every family:\n"
      "  --threads N            how many threads (2; 1 in uncontended and overhead)\n"
      "  --seconds S            the window in which episodes are counted (1)\n"
      "  --warm-up S            the time before the window (0.1)\n"
      "  --seed N               determines all random numbers (1)\n"
      "  --pin                  pin each thread to a processor\n"
      "  --hogs N               processes that burn CPU during the sample (0)\n"
      "\n"
      "options of contend, uncontended, fork-join and multi-lock:\n"
      "  --lock NAME            a lock, semaphore or reference of `fairlock_bench list`\n"
      "  --waiting POLICY       how waiters wait (spin-then-park; yield if the waiters of the lock cannot sleep)\n"
      "  --form guard|mutex     the episode is on the stack, or in the lock (guard)\n"
      "  --permits N            how many permits a semaphore has (1)\n"
      "\n"
      "options of contend, fork-join and multi-lock:\n"
      "  --critical N           steps in the critical section (0)\n"
      "  --critical-on DATA     shared: advance one generator of all threads; private: the thread's own (shared)\n"
      "  --non-critical N       steps after the release (0). In atomic-exchange: a random number below N (100)\n"
      "  --random               the number of steps after the release is random, and below N\n"
      "  --generator NAME       what a step advances (xoroshiro128plus). One of:");
  std::printf("                         %s\n",
              joined({std::begin(Generator::names), std::end(Generator::names)}).c_str());
  std::puts(
      "\n"
      "options of contend and fork-join:\n"
      "  --timed                record how long each acquire waits\n"
      "  --timed-apart          the same, but in a second window after the first\n"
      "  --handover             record the time from each release to the next thread's entry\n"
      "  --migrations           record how often the lock moves to another thread\n"
      "\n"
      "options of one family:\n"
      "  --episodes N           fork-join: episodes of a thread in each phase (100)\n"
      "  --locks-held N         multi-lock: how many locks the leader holds (5)\n"
      "  --registered-frames    throw: register frames as a just-in-time compiler does\n"
      "  --db FOLDER            leveldb: the database\n"
      "  --entries N            leveldb: how many entries the database has (1000000)\n"
      "  --fill                 leveldb: create the database, and measure nothing\n"
      "  --library NAME         leveldb: a library other than the system's\n"
      "  --version              leveldb: print only the version of the library");
}

void run(int argc, char** argv) {
  if (argc < 2) refuse("name a family of workloads; `fairlock_bench --help` lists them");
  if (std::any_of(argv + 1, argv + argc, [](const char* word) { return std::strcmp(word, "--help") == 0; }))
    return help();
  Json json;
  json.object(nullptr, [&] {
    if (std::strcmp(argv[1], "list") == 0) {
      if (argc > 2) refuse("list takes no options");
      write_list(json);
    } else {
      const Family& family = family_named(argv[1]);
      Arguments arguments(family.name, argc - 2, argv + 2);
      family.run(arguments, json);
    }
  });
  json.print();
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    bench::run(argc, argv);
  } catch (const std::exception& error) {  // most likely, the memory is exhausted
    bench::refuse(std::string("the system refused a resource: ") + error.what());
  }
}
