// Starts `foretrace serve` and speaks to it byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace foretrace::test {

struct Reply {
  int status = 0;  ///< 0: the connection ended without one
  std::string head;
  std::string body;
};

class Served {
 public:
  /// The program with these arguments behind `serve`.
  explicit Served(const std::vector<std::string>& arguments);
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const std::string& token() const { return token_; }
  [[nodiscard]] const std::string& address() const { return address_; }
  /// The line that it printed: the address, with --json in a document.
  [[nodiscard]] const std::string& told() const { return told_; }

  /// A connection to it.
  [[nodiscard]] int connect() const;
  /// Whatever comes back for these bytes.
  [[nodiscard]] Reply send(const std::string& bytes) const;
  /// A request as the page makes it, with further headers ("Name: value\r\n").
  [[nodiscard]] Reply post(const std::string& target, const std::string& body,
                           const std::string& headers = {}) const;
  /// Sends the signal; the exit code, 128 and more where it was killed.
  [[nodiscard]] int end(int signal);

 private:
  pid_t child_ = -1;
  std::string told_;
  std::string address_;
  std::string token_;
  std::uint16_t port_ = 0;
};

}  // namespace foretrace::test
