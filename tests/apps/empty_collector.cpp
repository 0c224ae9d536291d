// A library that goes into programs and records nothing: collect is tested with it where CUPTI is
// not there.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() { return 1; }
