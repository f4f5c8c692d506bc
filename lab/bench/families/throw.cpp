// SPDX-License-Identifier: Apache-2.0
// Family `throw`: threads throw and catch exceptions, back to back. (TWA paper, section 4.2.) The locks, if there are
// any, are inside the C++ runtime library.
//
//   --registered-frames   as in a process with a just-in-time compiler (library/exceptions.hpp)
#include "families/family.hpp"
#include "families/library_family.hpp"
#include "library/exceptions.hpp"

namespace bench {
namespace {

void run(Arguments& arguments, Json& json) {
  const CommonOptions options(arguments);
  const bool registered = arguments.flag("--registered-frames");
  arguments.finish();

  if (registered) register_frames();
  Crew crew(options);
  const Sample sample = repeat(crew, [](unsigned) { return throw_and_catch; });
  crew.write_episodes(json, sample);
  json.text("exclusion", "not checked");
  crew.write_costs(json, sample);
  write_preloaded(json);
  write_mutexes(
      json, registered ? std::vector<std::string>{"throw", "--registered-frames"} : std::vector<std::string>{"throw"});
}

}  // namespace

const Family throwing{"throw", "C++ exceptions, thrown and caught", run};

}  // namespace bench
