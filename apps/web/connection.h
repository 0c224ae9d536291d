// One client of a server: what came from it, what goes to it. Nothing here ever waits.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "apps/web/http.h"

namespace foretrace::serve {

class Connection {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State {
    asks,     ///< the request is not whole yet
    waits,    ///< for give()
    takes,    ///< the response goes out
    ends,     ///< what it still sends is dropped: closing at once would take a refusal from it
    is_over,  ///< nothing is left to do
  };

  /// Owns the socket, which does not block.
  Connection(int socket, Clock::time_point now);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  [[nodiscard]] int socket() const { return socket_; }
  [[nodiscard]] State state() const { return state_; }
  /// POLLIN or POLLOUT; 0 while it waits.
  [[nodiscard]] short ready_for() const;
  /// When on_time() has to be called; nothing while it waits.
  [[nodiscard]] std::optional<Clock::time_point> until() const;

  /// The socket is ready. The request, once it is whole.
  [[nodiscard]] std::optional<Request> on_ready(Clock::time_point now);
  /// The response of what on_ready() gave.
  void give(const Response& response, Clock::time_point now);
  /// Its time may be over.
  void on_time(Clock::time_point now);
  void give_up() { state_ = State::is_over; }

 private:
  std::optional<Request> read(Clock::time_point now);
  void write(Clock::time_point now);
  void drop();

  int socket_;
  State state_ = State::asks;
  Clock::time_point until_;
  std::string bytes_{};     // what came, then what goes
  std::size_t wanted_ = 0;  // bytes of the whole request, once its head is there
  std::size_t sent_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace foretrace::serve
