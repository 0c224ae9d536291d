#include "apps/web/server.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apps/web/connection.h"

namespace foretrace::serve {
namespace {

using Clock = Connection::Clock;
/// A browser opens six. Beyond it the oldest client that is not being answered is let go.
constexpr std::size_t most_connections = 512;
/// So long, rounded up to its own steps, the kernel keeps who says nothing; then it hands them
/// over.
constexpr int seconds_in_kernel = 5;

/// The clients of a server, the oldest first, on the thread that calls.
class Clients {
 public:
  Clients(int listening, int stop, int wake, Workers& workers)
      : listening_(listening), stop_(stop), wake_(wake), workers_(workers) {}

  /// Once: waits for what happens next and does what it asks for. False once the server shall stop.
  bool turn() {
    const bool has_room = clients_.size() < most_connections || replaceable() != clients_.end();
    std::vector<pollfd> asked = {
        {stop_, POLLIN, 0}, {wake_, POLLIN, 0}, {has_room ? listening_ : -1, POLLIN, 0}};
    std::vector<std::uint64_t> ids(asked.size());
    for (const auto& [id, client] : clients_) {
      if (client->ready_for() == 0) continue;
      asked.push_back({client->socket(), client->ready_for(), 0});
      ids.push_back(id);
    }
    if (::poll(asked.data(), asked.size(), time_left()) < 0) return true;  // a signal
    const Clock::time_point now = Clock::now();
    if (asked[1].revents != 0) take_answers(now);
    for (std::size_t i = 3; i < asked.size(); ++i) {
      if (asked[i].revents != 0) hear(ids[i], *clients_.at(ids[i]), now);
    }
    for (const auto& [id, client] : clients_) client->on_time(now);
    std::erase_if(clients_,
                  [](const auto& each) { return each.second->state() == State::is_over; });
    if (asked[2].revents != 0) accept(now);
    return asked[0].revents == 0;
  }

  /// Takes no more clients, and lets those go that have not asked.
  void close() {
    listening_ = -1;
    stop_ = -1;
    std::erase_if(clients_, [](const auto& each) { return each.second->state() == State::asks; });
  }
  [[nodiscard]] bool empty() const { return clients_.empty(); }

 private:
  using State = Connection::State;
  using Map = std::map<std::uint64_t, std::unique_ptr<Connection>>;

  /// In milliseconds, rounded up; -1: nothing happens by itself.
  [[nodiscard]] int time_left() const {
    std::optional<Clock::time_point> first;
    for (const auto& [id, client] : clients_) {
      const auto until = client->until();
      if (until && (!first || *until < *first)) first = until;
    }
    if (!first) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*first - Clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
  }

  /// What takes no memory from others: a client without memory for its bytes is let go.
  void hear(std::uint64_t id, Connection& client, Clock::time_point now) {
    try {
      if (auto request = client.on_ready(now)) workers_.ask(id, *std::move(request));
    } catch (const std::bad_alloc&) {
      client.give_up();
    }
  }

  void take_answers(Clock::time_point now) {
    eventfd_t count = 0;
    ::eventfd_read(wake_, &count);
    for (const auto& [id, response] : workers_.take()) {
      Connection& client = *clients_.at(id);  // it waits for this, so nobody let it go
      try {
        client.give(response, now);
      } catch (const std::bad_alloc&) {
        client.give_up();
      }
    }
  }

  void accept(Clock::time_point now) {
    constexpr int most_at_once = 64;
    for (int i = 0; i < most_at_once; ++i) {
      const bool is_full = clients_.size() >= most_connections;
      if (is_full && replaceable() == clients_.end()) return;
      const int socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (socket >= 0) {
        if (is_full) replace();  // now that there is somebody to take the place
        const auto added = clients_.emplace(next_++, std::make_unique<Connection>(socket, now));
        // Most have sent something, or would wait in the kernel: what is whole is not replaced.
        hear(added.first->first, *added.first->second, now);
        continue;
      }
      const bool is_short =
          errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (!is_short) return;
      if (!replace()) {
        // without the pause the client that waits would keep the processor busy
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return;
      }
    }
  }

  /// The oldest of those that nobody is working for: who dawdles first, who takes an answer last.
  [[nodiscard]] Map::iterator replaceable() {
    for (const State state : {State::asks, State::ends, State::takes}) {
      const auto oldest = std::ranges::find_if(
          clients_, [state](const auto& each) { return each.second->state() == state; });
      if (oldest != clients_.end()) return oldest;
    }
    return clients_.end();
  }

  bool replace() {
    const auto oldest = replaceable();
    if (oldest == clients_.end()) return false;
    clients_.erase(oldest);
    return true;
  }

  int listening_;
  int stop_;
  int wake_;
  Workers& workers_;
  Map clients_;
  std::uint64_t next_ = 0;
};

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
  // A connection that says nothing waits in the kernel at first, where it takes no place.
  ::setsockopt(socket, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds_in_kernel,
               sizeof(seconds_in_kernel));
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
  const int wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0) return Error{ErrorCode::io, "serve: the system gives no descriptor"};
  Status status = ok_status();
  {
    Workers workers(handler, threads, wake);
    if (workers.empty()) {
      status = Error{ErrorCode::io, "serve: the system gives no thread"};
    } else {
      Clients clients(socket_, stop, wake, workers);
      while (clients.turn()) {
      }
      ending();
      clients.close();
      while (!clients.empty()) clients.turn();
    }
  }
  ::close(wake);
  return status;
}

}  // namespace foretrace::serve
