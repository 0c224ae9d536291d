#include "tests/apps/support/served.h"

#include <array>
#include <csignal>
#include <cstdlib>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace foretrace::test {
namespace {

std::string all_of(int descriptor) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = ::read(descriptor, part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::string first_line(int descriptor) {
  std::string line;
  char c = 0;
  while (::read(descriptor, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

}  // namespace

Served::Served(const std::vector<std::string>& arguments) {
  std::vector<std::string> texts = {FORETRACE_PROGRAM, "serve", "--quiet"};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> words;
  for (std::string& text : texts) words.push_back(text.data());
  words.push_back(nullptr);
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  child_ = ::fork();
  if (child_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): a child of one thread
    ::setenv("FORETRACE_CONFIGS", FORETRACE_SOURCE_DIR "/configs", 1);
    ::dup2(pipe[1], STDOUT_FILENO);
    ::close(pipe[0]);
    ::close(pipe[1]);
    ::execv(words.front(), words.data());
    ::_exit(127);
  }
  ::close(pipe[1]);
  told_ = first_line(pipe[0]);
  ::close(pipe[0]);
  address_ = told_.starts_with('{') ? nlohmann::json::parse(told_).value("url", "") : told_;
  const std::string before = "http://127.0.0.1:";
  const std::size_t token = address_.find("/#token=");
  REQUIRE_MESSAGE((address_.starts_with(before) && token != std::string::npos), address_);
  port_ = static_cast<std::uint16_t>(std::atoi(address_.c_str() + before.size()));
  token_ = address_.substr(token + 8);
}

Served::~Served() {
  if (child_ > 0) static_cast<void>(end(SIGKILL));
}

int Served::end(int signal) {
  ::kill(child_, signal);
  int status = 0;
  ::waitpid(child_, &status, 0);
  child_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int Served::connect() const {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port_);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0);
  return socket;
}

Reply Served::send(const std::string& bytes) const {
  const int socket = connect();
  // what is refused before it is whole may close on the rest of it
  static_cast<void>(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  ::shutdown(socket, SHUT_WR);
  const std::string text = all_of(socket);
  ::close(socket);
  const std::size_t head = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.1 ") || head == std::string::npos) return {};
  return {std::atoi(text.c_str() + 9), text.substr(0, head), text.substr(head + 4)};
}

Reply Served::post(const std::string& target, const std::string& body,
                   const std::string& headers) const {
  return send("POST " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
              "\r\nContent-Type: application/json\r\nX-Foretrace-Token: " + token_ + "\r\n" +
              headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
}

}  // namespace foretrace::test
