// SPDX-License-Identifier: Apache-2.0
#include "families/library_family.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

extern char** environ;

namespace bench {
namespace {

constexpr const char* program = "fairlock_bench_probe";

struct Output {
  bool succeeded = false;  // exit status 0
  std::string text;
};

// The environment of this process without LD_PRELOAD, because the probe counts with its own pthread_mutex_lock.
std::vector<char*> environment_without_preload() {
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!std::string_view(*variable).starts_with("LD_PRELOAD=")) variables.push_back(*variable);
  variables.push_back(nullptr);
  return variables;
}

Output run_program(const std::string& path, std::vector<std::string> arguments) {
  Output output;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return output;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> words;
  for (auto& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, path.c_str(), &actions, nullptr, words.data(), environment_without_preload().data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char buffer[64];
  for (ssize_t n = 0; failed == 0 && (n = read(ends[0], buffer, sizeof buffer)) != 0;) {
    if (n > 0) output.text.append(buffer, static_cast<std::size_t>(n));
    else if (errno != EINTR) break;
  }
  close(ends[0]);
  if (failed != 0) return output;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  output.succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return output;
}

std::optional<double> count_mutexes(const std::string& path, const std::vector<std::string>& arguments) {
  const Output output = run_program(path, arguments);
  double number = 0;
  const auto end = output.text.data() + output.text.size();
  if (!output.succeeded || std::from_chars(output.text.data(), end, number).ec != std::errc{}) return std::nullopt;
  return number;
}

// The base address of the loaded object that contains an address. Null if no object contains it.
const void* object_of(const void* address) {
  Dl_info info;
  return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

}  // namespace

void write_preloaded(Json& json) {
  const auto* lock = static_cast<const char*>(dlsym(RTLD_DEFAULT, "fairlock_preload_lock"));
  const auto* waiting = static_cast<const char*>(dlsym(RTLD_DEFAULT, "fairlock_preload_waiting"));
  // An object that was loaded earlier may have its own mutexes. Then the preloaded lock is not in use.
  const bool in_use =
      object_of(lock) != nullptr && object_of(lock) == object_of(dlsym(RTLD_DEFAULT, "pthread_mutex_lock"));
  if (!in_use || waiting == nullptr) return json.null("preloaded");
  json.object("preloaded", [&] {
    json.text("lock", lock);
    json.text("waiting", waiting);
  });
}

void write_mutexes(Json& json, const std::vector<std::string>& arguments) {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const auto number = count_mutexes((here / program).string(), words);
  if (number) json.number("mutexes_per_episode", *number);
  else json.null("mutexes_per_episode");
  json.boolean("decidable", number != 0.0);  // true also if the number is unknown
  if (!number) json.text("reason", "not counted: " + words.front() + " did not run");
  else if (*number == 0)
    json.text("reason", "the libraries of this machine acquire no mutex for it, so none can be replaced");
}

}  // namespace bench
