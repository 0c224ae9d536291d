// Jobs of a cluster over time: the policies that are linked, and a list of jobs that is not there.
#include <cstdio>

#include <foretrace/scheduling/policy.h>
#include <foretrace/scheduling/schedule.h>

int main() {
  if (foretrace::schedulers::all().empty() || foretrace::placements::all().empty()) {
    return std::fprintf(stderr, "consumer: no policies\n"), 1;
  }
}
