// SPDX-License-Identifier: Apache-2.0
#include "list.hpp"

#include <fairlock/waiting/monitor.hpp>

#include "crew.hpp"
#include "family.hpp"
#include "roster.hpp"

namespace bench {
namespace {

#ifdef __clang__
constexpr const char* compiler = __VERSION__;  // says who it is
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

void write_subject(Json& json, const Entry& subject) {
  std::vector<std::string> policies, forms;
  const auto note = [](std::vector<std::string>& to, const char* name) {
    if (name != nullptr && !contains(to, name)) to.emplace_back(name);
  };
  for (const auto& entry : roster()) {
    if (entry.name != subject.name) continue;
    note(policies, entry.policy);
    note(forms, form_names[static_cast<int>(entry.form)]);
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
    std::vector<std::string> done;
    for (const auto& entry : roster()) {
      if (contains(done, entry.name)) continue;
      done.push_back(entry.name);
      json.object(nullptr, [&] { write_subject(json, entry); });
    }
  });
  json.object("missing", [&] {
#ifndef FAIRLOCK_BENCH_CK
    json.text("ck", "not installed: apt-get install libck-dev, then build again");
#endif
#ifndef FAIRLOCK_BENCH_ABSL
    json.text("absl", "not installed: apt-get install libabsl-dev, then build again");
#endif
#ifndef FAIRLOCK_BENCH_NSYNC
    json.text("nsync", "not installed: apt-get install libnsync-dev, then build again");
#endif
#ifndef FAIRLOCK_BENCH_BOOST
    json.text("boost", "not installed: apt-get install libboost-thread-dev, then build again");
#endif
#ifndef FAIRLOCK_BENCH_TBB
    json.text("tbb", "not installed: apt-get install libtbb-dev, then build again");
#endif
#ifndef FAIRLOCK_BENCH_ATOMIC
    json.text("atomic-exchange", "no libatomic to link with: install the compiler's, then build again");
#endif
    if (fairlock::monitor_kind() == fairlock::MonitorKind::none)
      json.text("monitor", "this CPU has no instruction to watch a line with: the policy `monitor` is `yield` here");
  });
}

}  // namespace bench
