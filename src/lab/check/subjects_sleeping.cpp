// Every lock and semaphore whose waiters can sleep, with waiters that do. Their names end in +park.

#include <fairlock/catalogue.hpp>

#include "check/subject.hpp"

namespace fairlock::check {

void add_sleeping(std::vector<Subject>& list) {
  const auto add = [&]<class E>() {
    if (!E::properties.parkable) return;
    auto subject = subject_of<E>(false);
    subject.name += "+park";
    subject.sleeping = true;
    list.push_back(subject);
  };
  for_each_entry(Locks<CheckedSleeping>{}, add);
  for_each_entry(Semaphores<CheckedSleeping>{}, add);
}

}  // namespace fairlock::check
