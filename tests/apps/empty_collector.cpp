// A library that goes into programs and records nothing: collect is tested with it where CUPTI is
// not there.
// NOLINTNEXTLINE(readability-identifier-naming): the name that CUDA calls
extern "C" __attribute__((visibility("default"))) int InitializeInjection() { return 1; }
