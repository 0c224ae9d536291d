#include "apps/cli/output/as_typed.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace foretrace::app {
namespace {

struct Typed {
  std::string_view asked;
  std::string_view option;
};

/// At the start of an error, in front of ": ". Of two words each: a file is not called so.
constexpr std::array questions = {Typed{"memory budget", "--memory-budget"},
                                  Typed{"when full", "--when-full"},
                                  Typed{"memory to fit", "--fit"},
                                  Typed{"largest batch", "--max-batch"},
                                  Typed{"best set", "--search"},
                                  Typed{"order by memory", "--by memory"},
                                  Typed{"what-if left out", "--without"},
                                  Typed{"rule left out", "--ablate"},
                                  Typed{"number of GPUs", "--gpus"},
                                  Typed{"without one-off", "--without-one-off"},
                                  Typed{"main table", "--csv"},
                                  Typed{"named table", "--table"},
                                  Typed{"picture of points", "--svg"}};

/// Anywhere in an error.
constexpr std::array advice = {
    Typed{"expected an order by memory", "expected --by memory"},
    Typed{"the unprofiled time is of a usual step",
          "--unprofiled-step is the time of a usual step"},
    Typed{"its tensors alone can be asked about memory",
          "'inspect --memory' and 'whatif' take its tensors alone"},
    Typed{"choose another one, or compute all of them again",
          "choose another one, or --fresh to compute all of them again"},
    Typed{"a fresh sweep computes them again", "`sweep --fresh` computes them again"},
    Typed{"expected runs of one device, or an accelerator to move both to",
          "expected runs of one device, or --accelerator NAME to move both there"},
    Typed{"state the network bandwidth", "add --network-bandwidth RATE"},
    Typed{"state the compute rate", "add --compute-rate RATE"},
    Typed{"state the memory bandwidth", "add --memory-bandwidth RATE"}};

/// Which command reads what: at the end of an error, behind "it is". {} is the file; without it,
/// the file goes last.
constexpr std::array typed_readers = {
    Typed{"a scenario", "simulate"},
    Typed{"a training run", "simulate"},
    Typed{"jobs on a cluster", "schedule"},
    Typed{"a served model", "simulate"},
    Typed{"streams", "simulate"},
    Typed{"a mapping", "simulate"},
    Typed{"remote storage", "simulate"},
    Typed{"federated learning", "simulate"},
    Typed{"a sweep", "sweep"},
    Typed{"an accelerator", "whatif TRACE --accelerator {}"},
    Typed{"a cluster", "plan MODEL --cluster {}"},
    Typed{"a framework", "plan MODEL --cluster NAME --framework {}"},
    Typed{"a model", "plan {} --cluster NAME"},
    Typed{"a what-if", "whatif TRACE --apply @{}"},
    Typed{"a table of kernels", "whatif TRACE --apply kernel_table:table={}"},
    Typed{"a table of attention", "whatif TRACE --apply attention_backend:table={}"}};

/// "run.json" of "run.json: contains ...", "explain: run.json contains ..." and
/// "run.json: /schema: ...".
std::string_view file_of(std::string_view message) {
  constexpr std::string_view explain = "explain: ";
  if (message.starts_with(explain)) {
    message.remove_prefix(explain.size());
    return message.substr(0, message.find(" contains "));
  }
  return message.substr(0, std::min(message.find(": contains "), message.find(": /schema: ")));
}

/// "/dev/fd/63" of <(cat run.json).
bool is_pipe(const std::string& path) {
  std::error_code failed;
  return std::filesystem::exists(path, failed) && !std::filesystem::is_regular_file(path, failed);
}

/// "it is a scenario: foretrace simulate run.json" in the place of "it is a scenario" at the end.
void name_the_command(std::string& message) {
  constexpr std::string_view words = "it is ";
  const std::size_t at = message.rfind(words);
  if (at == std::string::npos) return;
  const std::string_view end = message.ends_with(')') ? ")" : "";
  const std::size_t from = at + words.size();
  const std::string_view what(message.data() + from, message.size() - from - end.size());
  const auto* const reader = std::find_if(typed_readers.begin(), typed_readers.end(),
                                          [what](const Typed& one) { return one.asked == what; });
  if (reader == typed_readers.end()) return;
  const std::string found(file_of(message));
  const bool is_piped = found == "standard input" || is_pipe(found);
  const std::string file = is_piped ? "FILE" : found;
  const std::size_t place = reader->option.find("{}");
  std::string command(reader->option.substr(0, place));
  command += place == std::string_view::npos ? " " + file
                                             : file + std::string(reader->option.substr(place + 2));
  message.insert(
      message.size() - end.size(),
      (is_piped ? ", which is read from a file alone: foretrace " : ": foretrace ") + command);
}

/// "step: got 'x'", "step 99: ...": not a file that is called "step".
bool is_about_step(std::string_view message) {
  constexpr std::string_view word = "step";
  if (!message.starts_with(word)) return false;
  message.remove_prefix(word.size());
  if (message.starts_with(": got '")) return true;
  const std::size_t end = message.find(':');
  return message.starts_with(' ') && end != std::string_view::npos && end > 1 &&
         message.substr(1, end - 1).find_first_not_of("-0123456789") == std::string_view::npos;
}

}  // namespace

std::string as_typed(std::string message) {
  if (is_about_step(message)) message.insert(0, "--");
  for (const Typed& question : questions) {
    const std::size_t end = question.asked.size();
    if (message.starts_with(question.asked) && message.compare(end, 2, ": ") == 0) {
      message.replace(0, end, question.option);
      break;
    }
  }
  for (const Typed& one : advice) {
    const std::size_t at = message.find(one.asked);
    if (at != std::string::npos) message.replace(at, one.asked.size(), one.option);
  }
  name_the_command(message);
  return message;
}

}  // namespace foretrace::app
