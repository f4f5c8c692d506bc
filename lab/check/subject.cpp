// SPDX-License-Identifier: Apache-2.0
#include "check/subject.hpp"

#include "check/record_fixture.hpp"

namespace fairlock::check {

std::optional<std::string_view> Subject::refuses(Scenario scenario, unsigned threads) const {
  if (properties.max_threads != 0 && threads > properties.max_threads) return "more threads than the lock supports";
  const bool is_record = name == "hapax-seqlock";
  if (is_record != (scenario == Scenario::record))
    return is_record ? "a seqlock has only the scenario record" : "only a seqlock has the scenario record";
  if (scenario == Scenario::record && threads < 2) return "record needs a writer and a reader";
  const bool for_conditions = scenario == Scenario::notify || scenario == Scenario::notify_all ||
                              scenario == Scenario::notify_timed || scenario == Scenario::notify_destroy;
  if (condition != for_conditions)
    return condition ? "a condition has the scenarios notify, notify-all, notify-timed and notify-destroy"
                     : "only a condition has this scenario";
  if (condition && threads < 2) return "a condition needs a thread that waits and a thread that notifies";
  const bool for_semaphores = scenario == Scenario::permits || scenario == Scenario::posts ||
                              scenario == Scenario::timed_permits || scenario == Scenario::timed_posts ||
                              scenario == Scenario::timed_batch || scenario == Scenario::timed_away;
  const bool for_locks = scenario == Scenario::oblivious || scenario == Scenario::several;
  const bool destroys = scenario == Scenario::destroy || scenario == Scenario::timed_destroy;
  if (semaphore ? for_locks : for_semaphores)
    return semaphore ? "only a lock has this scenario" : "only a semaphore has this scenario";
  if (scenario == Scenario::timed_batch && threads < 3) return "timed-batch needs three threads";
  if ((scenario == Scenario::posts || scenario == Scenario::timed_posts) && threads < 2)
    return "posts needs two threads";
  if (uses_timed_form(scenario) && !abandonable) return "its waiters cannot leave the line";
  if (uses_timed_form(scenario) && threads < 2) return "a timed scenario needs two threads";
  if (scenario == Scenario::interrupt && !sleeping) return "interrupt needs waiters that sleep: choose NAME+park";
  if (scenario == Scenario::interrupt && threads < 3) return "interrupt needs three threads";
  if (scenario == Scenario::full_table && !has_ticket_line && !name.starts_with("hapax"))
    return "its waiters leave without an entry in the table of leavers";
  if (scenario == Scenario::wrap && !has_ticket_line) return "it has no counters that could wrap around";
  if (semaphore && destroys && threads < 2) return "destroy needs two threads";
  if (scenario == Scenario::try_ && !has_try) return "the algorithm has no try_acquire";
  if (scenario == Scenario::oblivious && !properties.thread_oblivious)
    return "only the thread that acquired it may release it";
  if (scenario == Scenario::oblivious && threads < 2) return "oblivious needs two threads";
  if (destroys && properties.release_touches_lock) return "its release reads the lock after it has freed it";
  return std::nullopt;
}

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = [] {
    std::vector<Subject> list;
    add_locks(list);
    add_variations(list);
    add_semaphores(list);
    add_sleeping(list);
    add_sleeping_variations(list);
    add_stepping_aside(list);
    add_conditions(list);
    Subject seqlock;
    seqlock.name = "hapax-seqlock";
    seqlock.properties.name = "hapax-seqlock";
    seqlock.properties.source = "Hapax paper, appendix B";
    seqlock.make = [](Scenario, std::uint32_t, const DomainOptions&) { return RecordFixture::program(); };
    list.push_back(seqlock);
    return list;
  }();
  return all;
}

const Subject* find_subject(std::string_view name) {
  for (const auto& subject : subjects())
    if (subject.name == name) return &subject;
  return nullptr;
}

}  // namespace fairlock::check
