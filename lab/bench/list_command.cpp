// SPDX-License-Identifier: Apache-2.0
#include "list_command.hpp"

#include <fairlock/waiting/monitor.hpp>

#include "families/family.hpp"
#include "harness/crew.hpp"
#include "locks/roster.hpp"

namespace bench {
namespace {

#ifdef __clang__
constexpr const char* compiler = __VERSION__;  // begins with the compiler's name
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

// The libraries whose locks are compared. CMakeLists.txt looks for them.
constexpr struct {
  const char* name;
  const char* package;
  bool built_in;
} peer_libraries[] = {
    {"ck", "libck-dev", FAIRLOCK_BENCH_CK},          {"absl", "libabsl-dev", FAIRLOCK_BENCH_ABSL},
    {"nsync", "libnsync-dev", FAIRLOCK_BENCH_NSYNC}, {"boost", "libboost-thread-dev", FAIRLOCK_BENCH_BOOST},
    {"tbb", "libtbb-dev", FAIRLOCK_BENCH_TBB},
};

// Write a lock, semaphore or reference, with all its policies and forms.
void write_subject(Json& json, const Entry& subject) {
  std::vector<std::string> policies, forms;
  const auto add_name = [](std::vector<std::string>& names, const char* name) {
    if (name != nullptr && !contains(names, name)) names.emplace_back(name);
  };
  for (const auto& entry : roster()) {
    if (entry.name != subject.name) continue;
    add_name(policies, entry.policy);
    add_name(forms, form_names[static_cast<int>(entry.form)]);
  }
  json.text("name", subject.name);
  json.text("kind", kind_names[static_cast<int>(subject.kind)]);
  subject.order != nullptr ? json.text("order", subject.order) : json.null("order");
  json.texts("policies", policies);
  json.texts("forms", forms);
  json.boolean("permits", subject.permits);
  subject.max_threads != 0 ? json.number("max_threads", subject.max_threads) : json.null("max_threads");
}

}  // namespace

void write_list(Json& json) {
  json.text("compiler", compiler);
  json.number("cpus", usable_cpus().size());
  json.number("most_threads", most_threads);
  json.texts("policies", policy_names());
  json.list("families", [&] {
    for (const Family* family : families()) json.text(nullptr, family->name);
  });
  json.list("subjects", [&] {
    std::vector<std::string> written;
    for (const auto& entry : roster()) {
      if (contains(written, entry.name)) continue;
      written.push_back(entry.name);
      json.object(nullptr, [&] { write_subject(json, entry); });
    }
  });
  json.object("missing", [&] {
    for (const auto& library : peer_libraries)
      if (!library.built_in)
        json.text(library.name,
                  std::string("not installed: apt-get install ") + library.package + ", then build again");
#ifndef FAIRLOCK_BENCH_ATOMIC
    json.text("atomic-exchange", "not built: the compiler's libatomic is not installed; install it, then build again");
#endif
    if (fairlock::monitor_kind() == fairlock::MonitorKind::none)
      json.text("monitor", "this CPU has no instruction that watches a cache line, so `monitor` waits like `yield`");
  });
}

}  // namespace bench
