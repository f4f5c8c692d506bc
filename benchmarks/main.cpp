// The native benchmark: fairlock's locks and semaphores beside what a program could use instead. JSON on stdout,
// progress on stderr; run.py makes tables of it.
#include "crew.hpp"
#include "parts.hpp"
#include "roster.hpp"

namespace bench {
namespace {

#ifdef __clang__
constexpr const char* compiler = __VERSION__;  // says who it is
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

void write_names(Json& json, const char* key, const std::vector<std::string>& names) {
  json.list(key, [&] {
    for (const auto& name : names) json.text(nullptr, name);
  });
}

void run(Options options) {
  check_names(options);
  double seconds = 0;
  for (const Part* part : options.parts()) seconds += part->wanted ? part->seconds : 0;
  Progress progress(seconds);
  Json json;
  json.object(nullptr, [&] {
    json.number("cpus", std::uint64_t{usable_cpus().size()});
    json.text("compiler", compiler);
    write_names(json, "catalogue", catalogue_names());  // what there is; who was measured is in the parts
    write_names(json, "policies", policy_names());
    json.object("missing", [&] {
#ifndef FAIRLOCK_BENCH_CK
      json.text("ck", "not installed: apt-get install libck-dev");
#endif
    });
    bool any = false;
    if (options.uncontended.wanted) any |= measure_uncontended(options, progress, json);
    if (options.contended.wanted) any |= measure_contended(options, progress, json);
    if (options.semaphores.wanted) any |= measure_semaphores(options, progress, json);
    if (options.oversubscribed.wanted) any |= measure_oversubscribed(options, progress, json);
    if (!any) refuse("none of these locks is measured in these parts");
  });
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { bench::run(bench::parse(argc, argv)); }
