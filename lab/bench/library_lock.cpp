// SPDX-License-Identifier: Apache-2.0
#include "library_lock.hpp"

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

struct Answer {
  bool well = false;  // it ended as it should
  std::string text;
};

// What we were started with, but nothing preloaded: the probe counts with a lock of its own.
std::vector<char*> plain_environment() {
  std::vector<char*> found;
  for (char** one = environ; *one != nullptr; ++one)
    if (!std::string_view(*one).starts_with("LD_PRELOAD=")) found.push_back(*one);
  found.push_back(nullptr);
  return found;
}

Answer ask(const std::string& path, std::vector<std::string> arguments) {
  Answer answer;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return answer;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> words;
  for (auto& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawn(&child, path.c_str(), &actions, nullptr, words.data(), plain_environment().data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char buffer[64];
  for (ssize_t n = 0; failed == 0 && (n = read(ends[0], buffer, sizeof buffer)) != 0;) {
    if (n > 0) answer.text.append(buffer, static_cast<std::size_t>(n));
    else if (errno != EINTR) break;
  }
  close(ends[0]);
  if (failed != 0) return answer;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  answer.well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return answer;
}

std::optional<double> mutexes(const std::string& path, const std::vector<std::string>& arguments) {
  const Answer answer = ask(path, arguments);
  double number = 0;
  const auto end = answer.text.data() + answer.text.size();
  if (!answer.well || std::from_chars(answer.text.data(), end, number).ec != std::errc{}) return std::nullopt;
  return number;
}

// The file that a name is in, by where it was loaded.
const void* home_of(const void* address) {
  Dl_info info;
  return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

}  // namespace

void write_preloaded(Json& json) {
  const auto* lock = static_cast<const char*>(dlsym(RTLD_DEFAULT, "fairlock_preload_lock"));
  const auto* waiting = static_cast<const char*>(dlsym(RTLD_DEFAULT, "fairlock_preload_waiting"));
  // Something that was loaded before it may have taken the mutexes away.
  const bool in_use = home_of(lock) != nullptr && home_of(lock) == home_of(dlsym(RTLD_DEFAULT, "pthread_mutex_lock"));
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
  const auto number = mutexes((here / program).string(), words);
  if (number) json.number("mutexes_per_episode", *number);
  else json.null("mutexes_per_episode");
  json.boolean("decidable", number != 0.0);  // if nobody knows, the figures speak for themselves
  if (!number) json.text("reason", std::string("not counted: ") + program + " did not run");
  else if (*number == 0)
    json.text("reason", "the libraries of this machine take no mutex for it, so none can be replaced");
}

}  // namespace bench
