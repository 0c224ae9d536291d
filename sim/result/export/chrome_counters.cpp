#include "sim/result/export/chrome_counters.h"

#include "sim/core/utf8.h"
#include "sim/result/export/chrome_text.h"

namespace foretrace::exporting {

void write_counter(ChromeText& out, const ChromeCounter& counter, std::size_t process) {
  const std::string name = json_string(counter.name);
  for (std::size_t i = 0; i < counter.samples.size(); ++i) {
    const ChromeCounter::Sample& sample = counter.samples[i];
    if (i + 1 == counter.samples.size() || counter.samples[i + 1].time_ns > sample.time_ns) {
      out.event(R"({{"ph":"C","name":{},"pid":{},"tid":0,"ts":{},"args":{{"value":{}}}}})", name,
                process, Microseconds{sample.time_ns}, sample.value);
    }
  }
}

void write_instants(ChromeText& out, const ChromeInstants& instants, std::size_t process,
                    std::size_t thread) {
  for (const ChromeInstant& instant : instants.list) {
    out.event(R"({{"ph":"i","s":"t","name":{},"pid":{},"tid":{},"ts":{},"args":{{"bytes":{}}}}})",
              json_string(instant.name), process, thread, Microseconds{instant.time_ns},
              instant.bytes);
  }
}

}  // namespace foretrace::exporting
