// SPDX-License-Identifier: Apache-2.0
// Family `throw`: threads that throw and catch, back to back. (TWA paper, section 4.2.) The locks, if there are any,
// are those of the C++ run time.
//
//   --registered-frames   as in a process with a just-in-time compiler: see throw.hpp
#include "throw.hpp"

#include "family.hpp"
#include "library_lock.hpp"

namespace bench {

const Family throwing{"throw", "C++ exceptions, thrown and caught", [](Arguments& arguments, Json& json) {
                        const Settings settings(arguments);
                        const bool registered = arguments.flag("--registered-frames");
                        arguments.finish();

                        if (registered) register_frames();
                        Crew crew(settings);
                        const Sample sample = repeat(crew, [](unsigned) { return throw_and_catch; });
                        crew.write_done(json, sample);
                        json.text("exclusion", "not asked");
                        crew.write_spent(json, sample);
                        write_preloaded(json);
                        write_mutexes(json, registered ? std::vector<std::string>{"throw", "--registered-frames"}
                                                       : std::vector<std::string>{"throw"});
                      }};

}  // namespace bench
