// A program that behaves like one that uses CUDA: it loads the library that CUDA_INJECTION64_PATH
// names as the driver does, and launches through the stand-in for CUPTI. Its argument says what
// else it does: many hosts are rude to their guests without knowing of them.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

int (*initialize)() = nullptr;
void (*launch)() = nullptr;
void (*push)(const char*) = nullptr;
int (*flush)(unsigned) = nullptr;
int (*is_in_use)() = nullptr;

// Allocations of this thread until one fails; -1: none does.
thread_local int allocations_left = -1;

[[maybe_unused]] bool allocation_fails() {
  if (allocations_left < 0) {
    return false;
  }
  if (allocations_left > 0) {
    --allocations_left;
  }
  return allocations_left == 0;
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FORETRACE_OTHER_MALLOC 1
#endif
#endif
#ifndef FORETRACE_OTHER_MALLOC
// In the program, so that every library uses them.
extern "C" void* __libc_malloc(std::size_t);                 // NOLINT: the C library's name
extern "C" void* __libc_memalign(std::size_t, std::size_t);  // NOLINT
extern "C" __attribute__((visibility("default"))) void* malloc(std::size_t size) {
  return allocation_fails() ? nullptr : __libc_malloc(size);
}
extern "C" __attribute__((visibility("default"))) void* aligned_alloc(std::size_t alignment,
                                                                      std::size_t size) {
  return allocation_fails() ? nullptr : __libc_memalign(alignment, size);
}
#endif
#endif

namespace {

void* load_driver() {
  const char* const injected =
      std::getenv("CUDA_INJECTION64_PATH");  // NOLINT(concurrency-mt-unsafe)
  void* const library = injected == nullptr ? nullptr : ::dlopen(injected, RTLD_NOW);
  if (library == nullptr) {
    const char* const why =
        injected == nullptr ? "no variable" : ::dlerror();  // NOLINT(concurrency-mt-unsafe)
    std::printf("not injected: %s\n", why);
    return nullptr;
  }
  initialize = reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"));
  return library;
}

void start_driver() {
  if (initialize == nullptr && load_driver() == nullptr) {
    return;
  }
  std::printf("injected: %d\n", initialize());
  if (void* const cupti = ::dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD)) {
    launch = reinterpret_cast<void (*)()>(::dlsym(cupti, "fake_launch"));
    push = reinterpret_cast<void (*)(const char*)>(::dlsym(cupti, "fake_push"));
    flush = reinterpret_cast<int (*)(unsigned)>(::dlsym(cupti, "cuptiActivityFlushAll"));
    is_in_use = reinterpret_cast<int (*)()>(::dlsym(cupti, "fake_is_in_use"));
  }
}

void launch_some(int count) {
  for (int i = 0; launch != nullptr && i < count; ++i) {
    launch();
  }
}

template <typename Work>
int in_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::exit(work());  // NOLINT(concurrency-mt-unsafe)
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void steps(std::string_view what) {
  start_driver();
  for (const char* const step : {"step 0", "step 1", "step 2", "step 3"}) {
    const char* const range = what == "steps" ? step : "Optimizer.step#SGD.step";
    push != nullptr ? push(range) : static_cast<void>(0);
    launch_some(10);
  }
}

/// A child only shares what the parent began.
void fork_once() {
  start_driver();
  launch_some(100);
  std::printf("child: %d\n", in_child([] {
                launch_some(5);
                return 9;
              }));
}

/// Threads that fork while others launch and record.
void fork_storm() {
  start_driver();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&wrong] {
      for (int child = 0; child < 25; ++child) {
        wrong += in_child([] { return 9; }) == 9 ? 0 : 1;
      }
    });
  }
  for (int round = 0; round < 200; ++round) {
    launch_some(5);
    flush != nullptr ? static_cast<void>(flush(0)) : static_cast<void>(0);
    ::usleep(500);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::printf("wrong: %d\n", wrong.load());
}

/// Closes all that it does not know, as daemons do, and works on.
void close_descriptors() {
  start_driver();
  launch_some(50);
  ::usleep(1'500'000);  // something is on the disk
  ::close_range(0, ~0U, 0);
  const int own = ::open("own.txt", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0644);
  for (int number = 0; number < 10; ++number) {
    ::dup2(own, number);
  }
  launch_some(50);
  static_cast<void>(::write(own, "mine\n", 5));
}

/// The same, and takes every number for a file of its own.
void take_descriptors() {
  start_driver();
  launch_some(50);
  ::usleep(1'500'000);
  ::close_range(0, ~0U, 0);
  const int own = ::open("own.txt", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0644);
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  for (rlim_t number = 0; number < limit.rlim_cur && number < 20000; ++number) {
    if (static_cast<int>(number) != own) {
      ::dup2(own, static_cast<int>(number));
    }
  }
  static_cast<void>(::write(own, "mine\n", 5));
  launch_some(50);
  flush != nullptr ? static_cast<void>(flush(0)) : static_cast<void>(0);
  ::usleep(1'500'000);
  static_cast<void>(::write(own, "mine\n", 5));
}

/// No thread may be started. Root has no such limit, so that it becomes somebody else.
void no_threads() {
  load_driver();
  ::dlopen("libcupti.so.13", RTLD_NOW);  // its folder may be closed to others
  const rlimit one{1, 1};
  ::setrlimit(RLIMIT_NPROC, &one);
  if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) {
    std::printf("still root\n");
  }
  start_driver();
  std::printf("in use: %d\n", is_in_use == nullptr ? 0 : is_in_use());
  launch_some(10);
}

/// One allocation after the other fails while the collector starts; each time in a fresh process.
void no_memory() {
  load_driver();
  int tried = 0;
  for (int failing = 1; failing <= 60; ++failing) {
    const int code = in_child([failing] {
      allocations_left = failing;
      const int answer = initialize();
      allocations_left = -1;
      start_driver();
      launch_some(3);
      return answer == 1 ? 7 : 8;
    });
    if (code != 7) {
      std::printf("allocation %d: code %d\n", failing, code);
    }
    ++tried;
  }
  std::printf("tried %d\n", tried);
}

/// More than a small disk holds, for a while.
void fill() {
  start_driver();
  for (int i = 0; i < 60; ++i) {
    launch_some(2000);
    flush != nullptr ? static_cast<void>(flush(0)) : static_cast<void>(0);
    ::usleep(50'000);
  }
}

void say_in_use() {
  start_driver();
  std::printf("in use: %d\n", is_in_use == nullptr ? 0 : is_in_use());
}

/// Works before and after something that it waits for, a minute at most.
void until_told() {
  start_driver();
  launch_some(50);
  std::fclose(std::fopen("begun", "w"));
  for (int i = 0; i < 1200 && ::access("told", F_OK) != 0; ++i) {
    ::usleep(50'000);
  }
  launch_some(50);
}

/// Becomes another program that uses CUDA, under the same number.
void become_other(char** argv) {
  start_driver();
  launch_some(10);
  flush != nullptr ? static_cast<void>(flush(0)) : static_cast<void>(0);
  ::usleep(2'500'000);  // what came before is on the disk by then
  ::execl(argv[0], argv[0], "launch", nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "launch";
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  if (what == "steps" || what == "updates") {
    steps(what);
  } else if (what == "fork") {
    fork_once();
  } else if (what == "storm") {
    fork_storm();
  } else if (what == "close") {
    close_descriptors();
  } else if (what == "descriptors") {
    take_descriptors();
  } else if (what == "threads") {
    no_threads();
  } else if (what == "memory") {
    no_memory();
  } else if (what == "fill") {
    fill();
  } else if (what == "use") {
    say_in_use();
  } else if (what == "until_told") {
    until_told();
  } else if (what == "exec") {
    become_other(argv);
  } else {
    start_driver();
    launch_some(100);
  }
  if (what == "kill") {
    ::usleep(1'500'000);
    ::kill(::getpid(), SIGKILL);
  }
  return what == "exit3" || what == "fill" || what == "use" ? 3 : 0;
}
