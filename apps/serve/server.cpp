#include "apps/serve/server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace foretrace::serve {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds time_to_ask{5};
constexpr std::chrono::seconds time_to_take{30};

/// Waits until the socket is ready or the time is over.
bool is_ready(int socket, short what, Clock::time_point until) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    pollfd asked{socket, what, 0};
    const int count = ::poll(&asked, 1, static_cast<int>(left));
    if (count > 0) return true;
    if (count == 0 || errno != EINTR) return false;
  }
}

/// The refusal of what is no request; empty bytes on a closed connection are no error to tell.
Parsed read_request(int client) {
  const Clock::time_point until = Clock::now() + time_to_ask;
  std::string bytes;
  std::array<char, 16 * 1024> part{};
  for (;;) {
    if (!is_ready(client, POLLIN, until)) return refusal(408, "the request took too long");
    const ssize_t got = ::recv(client, part.data(), part.size(), 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Incomplete{};
    bytes.append(part.data(), static_cast<std::size_t>(got));
    Parsed parsed = parse_request(bytes);
    if (!std::holds_alternative<Incomplete>(parsed)) return parsed;
  }
}

void send_all(int client, std::string_view bytes) {
  const Clock::time_point until = Clock::now() + time_to_take;
  while (!bytes.empty() && is_ready(client, POLLOUT, until)) {
    const ssize_t sent = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

/// What a refused client still sends is taken and dropped, up to a bound: closing at once would
/// take the refusal from it.
void drain(int client) {
  ::shutdown(client, SHUT_WR);
  constexpr std::size_t most = 1024 * 1024;
  const Clock::time_point until = Clock::now() + std::chrono::milliseconds(500);
  std::array<char, 16 * 1024> part{};
  for (std::size_t taken = 0; taken < most && is_ready(client, POLLIN, until);) {
    const ssize_t got = ::recv(client, part.data(), part.size(), 0);
    if (got <= 0) return;
    taken += static_cast<std::size_t>(got);
  }
}

/// What has no memory for its answer says so, and the server goes on.
Response handled(const Request& request, const Handler& handler) {
  try {
    return handler(request);
  } catch (const std::bad_alloc&) {
    return refusal(500, "this takes more memory than there is");
  } catch (const std::exception& error) {
    return refusal(500, error.what());
  }
}

void answer(int client, const Handler& handler) {
  const int one = 1;
  ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  const Parsed parsed = read_request(client);
  if (const auto* const request = std::get_if<Request>(&parsed)) {
    send_all(client, bytes_of(handled(*request, handler)));
  } else if (const auto* const response = std::get_if<Response>(&parsed)) {
    send_all(client, bytes_of(*response));
  }
  drain(client);
}

/// One of the threads: they share the socket.
void work(int listening, const Handler& handler, int stop) {
  for (;;) {
    std::array<pollfd, 2> asked = {pollfd{listening, POLLIN, 0}, pollfd{stop, POLLIN, 0}};
    if (::poll(asked.data(), asked.size(), -1) < 0 && errno != EINTR) return;
    if (asked[1].revents != 0) return;
    if ((asked[0].revents & POLLIN) == 0) continue;
    const int client = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) {
      // another thread was faster, the client is gone, or there are no descriptors left for now
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
      continue;
    }
    answer(client, handler);
    ::close(client);
  }
}

Error failed(std::uint16_t port) {
  const std::string why = std::system_category().message(errno);
  return {ErrorCode::io, port == 0 ? fmt::format("serve: cannot listen on 127.0.0.1: {}", why)
                                   : fmt::format("serve: port {} of 127.0.0.1: {}", port, why)};
}

}  // namespace

Result<Server> Server::listen(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return failed(port);
  Server server(socket, port);
  const int one = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  // A connection that says nothing waits in the kernel and not in a thread.
  const int seconds = static_cast<int>(time_to_ask.count());
  ::setsockopt(socket, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof(seconds));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): the way of sockets
  const bool is_bound = ::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                        ::listen(socket, SOMAXCONN) == 0 &&
                        ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
  if (!is_bound) return failed(port);
  server.port_ = ntohs(address.sin_port);
  return server;
}

Server::Server(Server&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), port_(other.port_) {}

Server::~Server() {
  if (socket_ >= 0) ::close(socket_);
}

Status Server::run(const Handler& handler, int stop, const std::function<void()>& ending,
                   std::size_t threads) const {
  const int ended = ::eventfd(0, EFD_CLOEXEC);
  if (ended < 0) return Error{ErrorCode::io, "serve: the system gives no descriptor"};
  std::vector<std::thread> helpers;
  for (std::size_t i = 0; i < threads; ++i) {
    try {
      helpers.emplace_back([&] { work(socket_, handler, ended); });
    } catch (const std::system_error&) {  // fewer threads do as well
      break;
    }
  }
  if (helpers.empty()) {
    ::close(ended);
    return Error{ErrorCode::io, "serve: the system gives no thread"};
  }
  pollfd asked{stop, POLLIN, 0};
  while (::poll(&asked, 1, -1) < 0 && errno == EINTR) {
  }
  ending();
  ::eventfd_write(ended, 1);
  for (std::thread& helper : helpers) helper.join();
  ::close(ended);
  return ok_status();
}

}  // namespace foretrace::serve
