// Family `contend`: threads that acquire a lock, do something, release it and do something else, all the time.
#include "contention.hpp"
#include "family.hpp"

namespace bench {

const Family contend{"contend", "threads that want one lock all the time", [](Arguments& arguments, Json& json) {
  const Settings settings(arguments);
  Contention contention(arguments, settings);
  arguments.finish();
  contention.prepare();
  const auto sample = contention.crew().measure([&](unsigned i) { contention.lock().work(contention.member(i)); });
  contention.check();
  contention.write(json, sample);
}};

}  // namespace bench
