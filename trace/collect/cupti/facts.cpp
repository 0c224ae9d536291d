#include "trace/collect/cupti/facts.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

namespace foretrace::trace::collector {
namespace {

constexpr std::size_t longest_command = 4096;

std::string command_line() {
  std::string text(longest_command, '\0');
  const int file = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return {};
  }
  const ssize_t got = ::read(file, text.data(), text.size());
  ::close(file);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  std::replace(text.begin(), text.end(), '\0', ' ');
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// The first of these variables that is set: launchers differ.
std::string first_set(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): read once, when the device is first used
    if (const char* const value = std::getenv(name); value != nullptr && *value != '\0') {
      return value;
    }
  }
  return {};
}

std::string driver_version() {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) {
    return {};
  }
  const auto get = reinterpret_cast<int (*)(int*)>(::dlsym(driver, "cuDriverGetVersion"));
  int version = 0;
  const bool known = get != nullptr && get(&version) == 0;
  ::dlclose(driver);
  return known ? std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10)
               : std::string();
}

}  // namespace

Facts facts_of_process(std::uint32_t cupti_version, bool with_command) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  Facts facts = {
      {"command", with_command ? command_line() : std::string()},
      {"process", std::to_string(::getpid())},
      {"started", std::to_string(now.tv_sec)},
      {"driver", driver_version()},
      {"cupti", std::to_string(cupti_version)},
      {"rank", first_set({"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"})},
      {"world size", first_set({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"})},
      {"local rank", first_set({"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"})}};
  facts.erase(std::remove_if(facts.begin(), facts.end(),
                             [](const auto& fact) { return fact.second.empty(); }),
              facts.end());
  return facts;
}

}  // namespace foretrace::trace::collector
