// A server of one machine: listens on 127.0.0.1 alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "apps/web/http.h"
#include "sim/core/result.h"

namespace foretrace::serve {

/// Called from several threads at once.
using Handler = std::function<Response(const Request&)>;

class Server {
 public:
  /// Port 0: one that is free. Error: the port is taken.
  [[nodiscard]] static Result<Server> listen(std::uint16_t port);
  Server(Server&& other) noexcept;
  Server& operator=(Server&&) = delete;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  [[nodiscard]] std::uint16_t port() const { return port_; }

  /// Without it every body is as small as most_body_bytes. Called from the thread of run().
  void limit_bodies(BodyLimit limit) { limit_ = std::move(limit); }

  /// Answers until `stop` can be read; then calls `ending` and waits for what is being answered. A
  /// client that is slow, silent or gone costs no thread and, where there are many, its own
  /// connection: the oldest that is not being answered goes first. As many as there are threads are
  /// answered at once. Error: the system gives no descriptor, or no thread.
  [[nodiscard]] Status run(const Handler& handler, int stop, const std::function<void()>& ending,
                           std::size_t threads = 16) const;

 private:
  Server(int socket, std::uint16_t port) : socket_(socket), port_(port) {}
  int socket_ = -1;
  std::uint16_t port_ = 0;
  BodyLimit limit_{};
};

}  // namespace foretrace::serve
