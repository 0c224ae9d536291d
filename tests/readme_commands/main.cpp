// Runs the commands of a README and compares what they print with what the page shows.
//
//   readme_commands ROOT PROGRAM PAGE...
//
// A ```console block holds commands ("$ ...") and their output. "$ foretrace" runs PROGRAM, "$ make
// demo" the recipe of the demo with it, any other "$ make" only has to name a target. A line "..."
// stands for any lines. FORETRACE_UPDATE_GOLDEN=1 rewrites the output on the page; "..." stays.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <sys/wait.h>

namespace {

struct Place {
  std::string root;
  std::string program;
};

struct Ran {
  std::string output;
  int code = 0;
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

Ran run(const Place& place, std::string command) {
  const bool is_demo = command.rfind("make demo", 0) == 0;
  if (is_demo) {
    // The program is already built: "release" counts as made, and `foretrace` says where it is.
    command += " --no-print-directory -o release foretrace=" + place.program;
  } else if (command.rfind("make", 0) == 0) {
    command += " --dry-run >/dev/null";
  }
  const std::string folder = place.program.substr(0, place.program.rfind('/'));
  const std::string line =
      "cd '" + place.root + "' && unset COLUMNS && XDG_CONFIG_HOME=/nonexistent PATH='" + folder +
      "':\"$PATH\" && export XDG_CONFIG_HOME && { " + command + "\n} 2>&1 </dev/null";
  Ran ran;
  // NOLINTNEXTLINE(cert-env33-c): commands of our own pages, run as a reader would run them
  std::FILE* const pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) {
    return {"cannot start a shell\n", 127};
  }
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    ran.output.append(buffer, got);
  }
  const int status = pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  ran.output = replaced(ran.output, place.program, "build/release/apps/foretrace");
  return ran;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// True if the page's lines describe the printed ones; "..." matches any number of lines.
bool matches(const std::vector<std::string>& page, std::size_t i,
             const std::vector<std::string>& printed, std::size_t j) {
  for (; i < page.size(); ++i, ++j) {
    if (page[i] == "...") {
      for (std::size_t skip = j; skip <= printed.size(); ++skip) {
        if (matches(page, i + 1, printed, skip)) {
          return true;
        }
      }
      return false;
    }
    if (j >= printed.size() || page[i] != printed[j]) {
      return false;
    }
  }
  return j == printed.size();
}

std::vector<std::string> without_trailing_blank(std::vector<std::string> lines) {
  while (!lines.empty() && lines.back().empty()) {
    lines.pop_back();
  }
  return lines;
}

/// What the page should show: everything printed, or its part up to and after "...".
std::vector<std::string> updated(const std::vector<std::string>& page,
                                 const std::vector<std::string>& printed) {
  std::size_t head = 0;
  while (head < page.size() && page[head] != "...") {
    ++head;
  }
  if (head == page.size()) {
    return printed;
  }
  const std::size_t tail = page.size() - head - 1;
  std::vector<std::string> out(
      printed.begin(),
      printed.begin() + static_cast<std::ptrdiff_t>(std::min(head, printed.size())));
  out.emplace_back("...");
  const std::size_t rest = std::min(tail, printed.size() - std::min(head, printed.size()));
  out.insert(out.end(), printed.end() - static_cast<std::ptrdiff_t>(rest), printed.end());
  return out;
}

/// Checks one page; the number of commands that do not print what it shows.
class Page {
 public:
  Page(const Place& place, std::string path, bool update)
      : place_(place), path_(std::move(path)), update_(update) {}

  int check() {
    std::ifstream file(path_);
    if (!file) {
      std::cerr << path_ << ": cannot be read\n";
      return 1;
    }
    std::stringstream text;
    text << file.rdbuf();
    lines_ = lines_of(text.str());
    while (at_ < lines_.size()) {
      out_.push_back(lines_[at_]);
      if (lines_[at_++] == "```console") {
        check_block();
      }
    }
    file.close();
    if (update_ && wrong_ > 0) {
      std::ofstream rewritten(path_);
      for (const std::string& line : out_) {
        rewritten << line << '\n';
      }
    }
    std::cout << path_ << ": " << commands_ << " commands, " << wrong_ << " differ\n";
    return update_ ? 0 : wrong_;
  }

 private:
  void check_block() {
    while (at_ < lines_.size() && lines_[at_] != "```") {
      if (lines_[at_].rfind("$ ", 0) != 0) {
        out_.push_back(lines_[at_++]);
        continue;
      }
      std::string command = lines_[at_].substr(2);
      out_.push_back(lines_[at_++]);
      while (!command.empty() && command.back() == '\\' && at_ < lines_.size()) {
        command = command.substr(0, command.size() - 1) + lines_[at_];
        out_.push_back(lines_[at_++]);
      }
      std::vector<std::string> shown;
      while (at_ < lines_.size() && lines_[at_] != "```" && lines_[at_].rfind("$ ", 0) != 0) {
        shown.push_back(lines_[at_++]);
      }
      check_command(command, shown);
    }
  }

  void check_command(const std::string& command, const std::vector<std::string>& shown) {
    ++commands_;
    const Ran ran = run(place_, command);
    const auto printed = without_trailing_blank(lines_of(ran.output));
    const auto expected = without_trailing_blank(shown);
    const bool blank_after = shown.size() > expected.size();
    const bool differs = !matches(expected, 0, printed, 0);
    wrong_ += differs ? 1 : 0;
    if (differs && !update_) {
      std::cerr << path_ << ": $ " << command << "\nexit code " << ran.code << ", printed:\n"
                << ran.output << "the page shows:\n";
      for (const std::string& line : expected) {
        std::cerr << line << '\n';
      }
    }
    // What still holds stays as it was written: which lines "..." leaves out is a choice.
    for (const std::string& line : differs ? updated(expected, printed) : expected) {
      out_.push_back(line);
    }
    if (blank_after) {
      out_.emplace_back();
    }
  }

  const Place& place_;
  std::string path_;
  bool update_;
  std::vector<std::string> lines_;
  std::vector<std::string> out_;
  std::size_t at_ = 0;
  int commands_ = 0;
  int wrong_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: readme_commands ROOT PROGRAM PAGE...\n";
    return 2;
  }
  const Place place{argv[1], argv[2]};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  const bool update = std::getenv("FORETRACE_UPDATE_GOLDEN") != nullptr;
  int wrong = 0;
  for (int i = 3; i < argc; ++i) {
    wrong += Page(place, argv[i], update).check();
  }
  return wrong == 0 ? 0 : 1;
}
