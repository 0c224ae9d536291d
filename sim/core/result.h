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
  /// The same value, or the error with "where: " in front.
  [[nodiscard]] Result with_context(std::string_view where) && {
    if (ok()) return std::move(*this);
    return std::move(*this).error().with_context(where);
  }
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

/// Takes the value of a Result, or returns its error from the function around it:
///   FORETRACE_TRY(const auto root, read(path));
///   FORETRACE_TRY(cluster_, cluster_of(root).with_context("--cluster"));  // an assignment
///   FORETRACE_TRY(fields.finish());                                       // no value to take
/// The value of a temporary is moved, that of a variable is copied.
#define FORETRACE_TRY(first, ...) \
  FORETRACE_TRY_##__VA_OPT__(VALUE)(__COUNTER__, first __VA_OPT__(, ) __VA_ARGS__)
#define FORETRACE_TRY_(count, expression)  \
  do {                                     \
    FORETRACE_TRY_ONCE(count, expression); \
  } while (false)
#define FORETRACE_TRY_VALUE(count, target, ...) \
  FORETRACE_TRY_ONCE(count, __VA_ARGS__);       \
  FORETRACE_TRY_MOVE(count, target)
#define FORETRACE_TRY_ONCE(count, ...)  \
  auto&& tried_##count = (__VA_ARGS__); \
  if (!tried_##count) return std::forward<decltype(tried_##count)>(tried_##count).error()
#define FORETRACE_TRY_MOVE(count, target) \
  target = std::forward<decltype(tried_##count)>(tried_##count).value()
