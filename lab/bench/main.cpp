// SPDX-License-Identifier: Apache-2.0
// The native workloads: fairlock's locks and semaphores beside what a program could use instead.
//
//   fairlock_bench list                       what there is to measure
//   fairlock_bench FAMILY --option value ...  one sample, as a JSON object
//
// Status 2: bad input; 1: a lock that does not do its duty. Then there is one line on stderr, and nothing on stdout.
#include <cstring>
#include <exception>

#include "common.hpp"
#include "family.hpp"
#include "list.hpp"

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
      "fairlock_bench list                       what there is to measure\n"
      "fairlock_bench FAMILY --option value ...  one sample, as a JSON object\n");
  for (const Family* family : families()) std::printf("  %-22s %s\n", family->name, family->about);
}

void run(int argc, char** argv) {
  if (argc < 2) refuse("which family of workloads? `fairlock_bench --help` shows them");
  if (std::strcmp(argv[1], "--help") == 0) return help();
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
  } catch (const std::exception& error) {  // no memory, most likely
    bench::refuse(std::string("this system does not allow it: ") + error.what());
  }
}
