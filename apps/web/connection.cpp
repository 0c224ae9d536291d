#include "apps/web/connection.h"

#include <array>
#include <cerrno>
#include <utility>
#include <variant>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace foretrace::serve {
namespace {

constexpr std::chrono::seconds time_to_ask{5};
constexpr std::chrono::seconds time_to_take{30};
constexpr std::chrono::milliseconds time_to_end{500};
constexpr std::size_t most_dropped = std::size_t{1024} * 1024;
using Part = std::array<char, std::size_t{16} * 1024>;

bool is_passing(int error) { return error == EINTR || error == EAGAIN; }

}  // namespace

Connection::Connection(int socket, Clock::time_point now)
    : socket_(socket), until_(now + time_to_ask) {
  const int one = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

Connection::~Connection() { ::close(socket_); }

short Connection::ready_for() const {
  if (state_ == State::asks || state_ == State::ends) return POLLIN;
  return state_ == State::takes ? POLLOUT : short{0};
}

std::optional<Connection::Clock::time_point> Connection::until() const {
  if (state_ == State::waits) return std::nullopt;
  return until_;
}

std::optional<Request> Connection::on_ready(Clock::time_point now) {
  if (state_ == State::asks) return read(now);
  if (state_ == State::takes) write(now);
  if (state_ == State::ends) drop();
  return std::nullopt;
}

void Connection::give(const Response& response, Clock::time_point now) {
  bytes_ = bytes_of(response);
  state_ = State::takes;
  until_ = now + time_to_take;
  write(now);
}

void Connection::on_time(Clock::time_point now) {
  if (state_ == State::waits || now < until_) return;
  if (state_ == State::asks) {
    give(refusal(408, "the request took too long"), now);
  } else {
    state_ = State::is_over;
  }
}

std::optional<Request> Connection::read(Clock::time_point now) {
  Part part;
  const ssize_t got = ::recv(socket_, part.data(), part.size(), 0);
  if (got < 0 && is_passing(errno)) return std::nullopt;
  if (got <= 0) {
    state_ = State::is_over;
    return std::nullopt;
  }
  bytes_.append(part.data(), static_cast<std::size_t>(got));
  if (bytes_.size() < wanted_) return std::nullopt;
  Parsed parsed = parse_request(bytes_);
  if (const auto* const begin = std::get_if<Incomplete>(&parsed)) {
    wanted_ = begin->wanted;
    return std::nullopt;
  }
  if (const auto* const refused = std::get_if<Response>(&parsed)) {
    give(*refused, now);
    return std::nullopt;
  }
  state_ = State::waits;
  return std::get<Request>(std::move(parsed));
}

void Connection::write(Clock::time_point now) {
  while (sent_ < bytes_.size()) {
    const ssize_t sent =
        ::send(socket_, bytes_.data() + sent_, bytes_.size() - sent_, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent <= 0) {
      state_ = State::is_over;
      return;
    }
    sent_ += static_cast<std::size_t>(sent);
  }
  bytes_ = {};
  ::shutdown(socket_, SHUT_WR);
  state_ = State::ends;
  until_ = now + time_to_end;
}

void Connection::drop() {
  Part part;
  const ssize_t got = ::recv(socket_, part.data(), part.size(), 0);
  if (got < 0 && is_passing(errno)) return;
  dropped_ += got > 0 ? static_cast<std::size_t>(got) : 0;
  if (got <= 0 || dropped_ > most_dropped) state_ = State::is_over;
}

}  // namespace foretrace::serve
