#include "apps/cli/output/as_typed.h"

#include <algorithm>
#include <array>
#include <string_view>

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
                                  Typed{"rank all", "--rank-all"},
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
    Typed{"take another one, or compute all of them anew",
          "take another one, or --fresh to compute all of them anew"},
    Typed{"a fresh sweep computes them anew", "`sweep --fresh` computes them anew"},
    Typed{"expected runs of one device, or an accelerator to move both to",
          "expected runs of one device, or --accelerator NAME to move both there"},
    Typed{"give the rate of the network", "give the rate with --network-bandwidth"},
    Typed{"give the rate of computing", "give the rate with --compute-rate"},
    Typed{"give the rate of memory", "give the rate with --memory-bandwidth"}};

/// Which command takes what: at the end of an error, behind "it is". {} is the file; without it,
/// the file goes last.
constexpr std::array takers = {
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

/// "run.json" of "run.json: holds ...", "explain: run.json holds ..." and "run.json: /schema: ...".
std::string_view file_of(std::string_view message) {
  constexpr std::string_view explain = "explain: ";
  if (message.starts_with(explain)) {
    message.remove_prefix(explain.size());
    return message.substr(0, message.find(" holds "));
  }
  return message.substr(0, std::min(message.find(": holds "), message.find(": /schema: ")));
}

/// "simulate takes it" in the place of "it is a scenario" at the end.
void say_who_takes_it(std::string& message) {
  constexpr std::string_view words = "it is ";
  const std::size_t at = message.rfind(words);
  if (at == std::string::npos) return;
  const std::string_view end = message.ends_with(')') ? ")" : "";
  const std::size_t from = at + words.size();
  const std::string_view what(message.data() + from, message.size() - from - end.size());
  const auto* const taker = std::find_if(takers.begin(), takers.end(),
                                         [what](const Typed& one) { return one.asked == what; });
  if (taker == takers.end()) return;
  const std::string_view file = file_of(message);
  const bool is_pipe = file == "standard input";  // no command takes it from there
  const std::size_t place = taker->option.find("{}");
  std::string text(taker->option.substr(0, place));
  if (place != std::string_view::npos) {
    text += is_pipe ? "FILE" : file;
    text += taker->option.substr(place + 2);
  }
  text += is_pipe && place == std::string_view::npos ? " takes it as a file" : " takes it";
  text += end;
  message.replace(at, std::string::npos, text);
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
  say_who_takes_it(message);
  return message;
}

}  // namespace foretrace::app
