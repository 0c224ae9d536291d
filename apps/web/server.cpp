#include "apps/web/server.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <list>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <unistd.h>

namespace foretrace::serve {
namespace {

namespace net = boost::asio;
using boost::system::error_code;
using net::ip::tcp;
using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds time_to_ask{5'000};
constexpr Milliseconds time_to_take{30'000};
constexpr Milliseconds time_to_end{500};
constexpr Milliseconds time_without_descriptors{50};
constexpr std::size_t most_dropped = std::size_t{1024} * 1024;
constexpr std::size_t most_at_once = std::size_t{16} * 1024;
/// A browser opens six. Beyond it the oldest client that is not being answered is let go.
constexpr std::size_t most_connections = 512;
/// So long, rounded up to its own steps, the kernel keeps who says nothing; then it hands them
/// over.
constexpr int seconds_in_kernel = 5;

enum class State {
  asks,     ///< the request is not whole yet
  waits,    ///< for its answer
  takes,    ///< the response goes out
  ends,     ///< what it still sends is dropped: closing at once would take a refusal from it
  is_over,  ///< closed
};

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

/// Threads that answer. Fewer than asked for, down to none, where the system gives no more.
class Workers {
 public:
  explicit Workers(std::size_t count) {
    try {
      while (threads_.size() < count) threads_.emplace_back([this] { answers_.run(); });
    } catch (const std::system_error&) {  // fewer threads do as well
    }
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    answers_.stop();
    for (std::thread& thread : threads_) thread.join();
  }

  [[nodiscard]] bool empty() const { return threads_.empty(); }
  [[nodiscard]] net::io_context& answers() { return answers_; }

 private:
  net::io_context answers_;
  net::executor_work_guard<net::io_context::executor_type> work_ = net::make_work_guard(answers_);
  std::vector<std::thread> threads_;
};

/// What the clients share.
struct Loop {
  const Handler& handler;
  const BodyLimit& limit;
  net::io_context& events;
  net::io_context& answers;         ///< on threads of its own
  std::function<void()> on_change;  ///< a client waits for its answer no more, or is over
};

/// One client: what came from it, what goes to it. Nothing here ever waits.
class Client : public std::enable_shared_from_this<Client> {
 public:
  Client(tcp::socket socket, Loop& loop)
      : socket_(std::move(socket)), timer_(loop.events), loop_(loop) {}

  [[nodiscard]] State state() const { return state_; }

  void begin() {
    error_code ignored;
    socket_.non_blocking(true, ignored);
    socket_.set_option(tcp::no_delay(true), ignored);
    enter(State::asks, time_to_ask);
    // Most have sent something, or would wait in the kernel: what is whole is not replaced.
    hear();
  }

  void close() {
    error_code ignored;
    state_ = State::is_over;
    timer_.cancel();
    socket_.close(ignored);
  }

 private:
  void enter(State state, Milliseconds time) {
    state_ = state;
    timer_.expires_after(time);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      const bool is_late = !error && self->timer_.expiry() <= net::steady_timer::clock_type::now();
      if (is_late && self->state_ != State::waits) self->on_time();
    });
  }

  void on_time() {
    if (state_ == State::asks) return give(refusal(408, "the request took too long"));
    end();
  }

  void end() {
    close();
    loop_.on_change();
  }

  /// Reads what is there, and comes again once there is more. A client without memory for its bytes
  /// is let go.
  void hear() {
    std::array<char, most_at_once> part;
    error_code error;
    const std::size_t got = socket_.read_some(net::buffer(part), error);
    const bool is_early = error == net::error::would_block || error == net::error::interrupted;
    if (error && !is_early) return end();
    try {
      if (state_ == State::asks) read({part.data(), got});
      if (state_ == State::ends) dropped_ += got;
    } catch (const std::bad_alloc&) {
      return end();
    }
    if (dropped_ > most_dropped) return end();
    if (state_ == State::asks || state_ == State::ends) hear_later();
  }

  void hear_later() {
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
      if (!error && (self->state_ == State::asks || self->state_ == State::ends)) self->hear();
    });
  }

  void read(std::string_view part) {
    bytes_.append(part);
    if (part.empty() || bytes_.size() < wanted_) return;
    Parsed parsed = parse_request(bytes_, loop_.limit);
    if (const auto* const begin = std::get_if<Incomplete>(&parsed)) wanted_ = begin->wanted;
    if (const auto* const refused = std::get_if<Response>(&parsed)) give(*refused);
    if (auto* const request = std::get_if<Request>(&parsed)) ask(std::move(*request));
  }

  void ask(Request request) {
    state_ = State::waits;
    timer_.cancel();
    net::post(loop_.answers, [self = shared_from_this(), request = std::move(request),
                              work = net::make_work_guard(loop_.events)]() mutable {
      Response response = handled(request, self->loop_.handler);
      net::post(self->loop_.events, [self, response = std::move(response)] {
        self->give(response);
        self->loop_.on_change();
      });
    });
  }

  void give(const Response& response) {
    try {
      bytes_ = bytes_of(response);
    } catch (const std::bad_alloc&) {
      return end();
    }
    enter(State::takes, time_to_take);
    net::async_write(socket_, net::buffer(bytes_),
                     [self = shared_from_this()](error_code error, std::size_t) {
                       if (self->state_ != State::takes) return;
                       if (error) return self->end();
                       self->bytes_ = {};
                       self->socket_.shutdown(tcp::socket::shutdown_send, error);
                       self->enter(State::ends, time_to_end);
                       self->hear_later();
                     });
  }

  tcp::socket socket_;
  net::steady_timer timer_;
  Loop& loop_;
  State state_ = State::asks;
  std::string bytes_{};     // what came, then what goes
  std::size_t wanted_ = 0;  // bytes of the whole request, once its head is there
  std::size_t dropped_ = 0;
};

/// All clients, the oldest first, and who comes.
class Clients {
 public:
  /// What the clients ask of.
  struct Asked {
    const Handler& handler;
    const BodyLimit& limit;
  };
  Clients(Asked asked, net::io_context& events, net::io_context& answers, int listening)
      : loop_{asked.handler, asked.limit, events, answers, [this] { accept_later(); }},
        acceptor_(events, tcp::v4(), listening),
        timer_(events) {
    acceptor_.non_blocking(true);
  }
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;
  ~Clients() {
    if (acceptor_.is_open()) acceptor_.release();  // the socket is the server's
  }

  void accept_later() {
    std::erase_if(clients_, [](const auto& each) { return each->state() == State::is_over; });
    const bool has_room = clients_.size() < most_connections || replaceable() != clients_.end();
    if (!has_room || is_accepting_ || !acceptor_.is_open()) return;
    is_accepting_ = true;
    acceptor_.async_wait(tcp::acceptor::wait_read, [this](error_code error) {
      is_accepting_ = false;
      if (!error) accept();
    });
  }

  /// Takes no more clients, and lets those go that have not asked.
  void close() {
    acceptor_.release();
    timer_.cancel();
    for (const auto& client : clients_) {
      if (client->state() == State::asks) client->close();
    }
  }

 private:
  using List = std::list<std::shared_ptr<Client>>;

  void accept() {
    tcp::socket socket(loop_.events);
    error_code error;
    acceptor_.accept(socket, error);
    const bool is_short = error == net::error::no_descriptors ||
                          error == net::error::no_buffer_space || error == net::error::no_memory ||
                          error == error_code(ENFILE, boost::system::system_category());
    if (is_short && !replace()) {
      // without the pause the client that waits would keep the processor busy
      timer_.expires_after(time_without_descriptors);
      timer_.async_wait([this](error_code over) {
        if (!over) accept_later();
      });
      return;
    }
    if (!error) {
      if (clients_.size() >= most_connections) replace();  // there is somebody to take the place
      const auto client = std::make_shared<Client>(std::move(socket), loop_);
      clients_.push_back(client);
      client->begin();
    }
    accept_later();
  }

  /// The oldest of those that nobody is working for: who dawdles first, who takes an answer last.
  [[nodiscard]] List::iterator replaceable() {
    for (const State state : {State::asks, State::ends, State::takes}) {
      const auto oldest = std::ranges::find_if(
          clients_, [state](const auto& each) { return each->state() == state; });
      if (oldest != clients_.end()) return oldest;
    }
    return clients_.end();
  }

  bool replace() {
    const auto oldest = replaceable();
    if (oldest == clients_.end()) return false;
    (*oldest)->close();
    clients_.erase(oldest);
    return true;
  }

  Loop loop_;
  tcp::acceptor acceptor_;
  net::steady_timer timer_;
  List clients_;
  bool is_accepting_ = false;
};

}  // namespace

Result<Server> Server::listen(std::uint16_t port) {
  using DeferAccept = net::detail::socket_option::integer<IPPROTO_TCP, TCP_DEFER_ACCEPT>;
  net::io_context events;
  tcp::acceptor acceptor(events);
  try {
    acceptor.open(tcp::v4());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    // A connection that says nothing waits in the kernel at first, where it takes no place.
    acceptor.set_option(DeferAccept(seconds_in_kernel));
    acceptor.non_blocking(true);
    acceptor.bind({net::ip::address_v4::loopback(), port});
    acceptor.listen();
    const std::uint16_t taken = acceptor.local_endpoint().port();
    return Server(acceptor.release(), taken);
  } catch (const boost::system::system_error& error) {
    const std::string why = error.code().message();
    return Error{ErrorCode::io, port == 0
                                    ? fmt::format("serve: cannot listen on 127.0.0.1: {}", why)
                                    : fmt::format("serve: port {} of 127.0.0.1: {}", port, why)};
  }
}

Server::Server(Server&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      port_(other.port_),
      limit_(std::move(other.limit_)) {}

Server::~Server() {
  if (socket_ >= 0) ::close(socket_);
}

Status Server::run(const Handler& handler, int stop, const std::function<void()>& ending,
                   std::size_t threads) const {
  try {
    net::io_context events(1);
    Workers workers(threads);
    if (workers.empty()) return Error{ErrorCode::io, "serve: the system gives no thread"};
    Clients clients({handler, limit_}, events, workers.answers(), socket_);
    net::posix::stream_descriptor stopping(events, stop);
    stopping.async_wait(net::posix::stream_descriptor::wait_read, [&](error_code) {
      stopping.release();
      ending();
      clients.close();
    });
    while (!events.stopped()) {
      try {
        clients.accept_later();
        events.run();
      } catch (const std::bad_alloc&) {  // costs a client at most
      }
    }
    return ok_status();
  } catch (const boost::system::system_error&) {
    return Error{ErrorCode::io, "serve: the system gives no descriptor"};
  }
}

}  // namespace foretrace::serve
