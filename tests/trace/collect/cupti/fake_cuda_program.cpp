// A program that behaves like one that uses CUDA: it loads the library that CUDA_INJECTION64_PATH
// names as the driver does, and launches through the stand-in for CUPTI. Its argument says what
// else it does: launch, steps, updates, fork, kill, exit3.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void (*launch)() = nullptr;
void (*push)(const char*) = nullptr;

void start_driver() {
  const char* const injected = std::getenv("CUDA_INJECTION64_PATH");
  void* const library = injected == nullptr ? nullptr : ::dlopen(injected, RTLD_NOW);
  if (library == nullptr) {
    std::printf("not injected: %s\n", injected == nullptr ? "no variable" : ::dlerror());
    return;
  }
  const auto initialize = reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"));
  std::printf("injected: %d\n", initialize());
  if (void* const cupti = ::dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD)) {
    launch = reinterpret_cast<void (*)()>(::dlsym(cupti, "fake_launch"));
    push = reinterpret_cast<void (*)(const char*)>(::dlsym(cupti, "fake_push"));
  }
}

void launch_some(int count) {
  for (int i = 0; launch != nullptr && i < count; ++i) {
    launch();
  }
}

int in_child(int (*work)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "launch";
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  start_driver();
  if (what == "steps" || what == "updates") {
    for (const char* const step : {"step 0", "step 1", "step 2", "step 3"}) {
      const char* const range = what == "steps" ? step : "Optimizer.step#SGD.step";
      push != nullptr ? push(range) : static_cast<void>(0);
      launch_some(10);
    }
  } else {
    launch_some(100);
  }
  if (what == "fork") {  // the child only shares what the parent began
    std::printf("child: %d\n", in_child([] {
                  launch_some(5);
                  return 9;
                }));
  }
  if (what == "kill") {
    ::usleep(1'500'000);
    ::kill(::getpid(), SIGKILL);
  }
  return what == "exit3" ? 3 : 0;
}
