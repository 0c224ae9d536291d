// Result<T>: a value, or an Error that says what was wrong, where, and what to do.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace foretrace {

enum class ErrorCode : std::uint8_t {
  not_found,
  bad_format,
  bad_config,
  bad_usage,
  unsupported,
  cyclic_graph,
  missing_cost,
  no_match,
  io
};

struct Error {
  ErrorCode code{};
  std::string message;  // lower case, no full stop, "where: what, got X, expected Y"
  /// Puts "where: " in front of the message.
  [[nodiscard]] Error with_context(std::string_view where) &&;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit on purpose: "return value;" and "return Error{...};" both read well.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  [[nodiscard]] const Error& error() const& { return std::get<1>(state_); }
  [[nodiscard]] Error&& error() && { return std::get<1>(std::move(state_)); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

/// What a function returns that gives nothing back but can fail.
struct Unit {};
using Status = Result<Unit>;
[[nodiscard]] inline Status ok_status() { return Unit{}; }

[[nodiscard]] std::string_view to_string(ErrorCode code);

namespace invariants {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace invariants

}  // namespace foretrace

/// A broken invariant of ours, never a mistake of the user: throws std::logic_error in every build.
#define FORETRACE_CHECK(condition) \
  (static_cast<bool>(condition)    \
       ? static_cast<void>(0)      \
       : ::foretrace::invariants::check_failed(#condition, __FILE__, __LINE__))
