// Index types and the columns they index: a TaskId cannot be used where a LaneId is meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace foretrace {

enum class TaskId : std::uint32_t {};        ///< a task of a graph; ids are topological
enum class LaneId : std::uint32_t {};        ///< something that keeps order: host thread, stream
enum class WorkId : std::uint32_t {};        ///< an interned description of work
enum class LayerId : std::uint32_t {};       ///< a module of the model; 0 is "no layer"
enum class NameId : std::uint32_t {};        ///< an interned string; 0 is the empty string
enum class EventId : std::uint32_t {};       ///< a row of an EventTable
enum class TrackId : std::uint32_t {};       ///< where an event was recorded: thread or stream
enum class DescriptorId : std::uint32_t {};  ///< an interned set of event arguments; 0 is none

template <typename T>
concept IdType = std::is_enum_v<T> && std::is_same_v<std::underlying_type_t<T>, std::uint32_t>;

template <IdType Id>
[[nodiscard]] constexpr std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

template <IdType Id>
[[nodiscard]] constexpr Id make_id(std::size_t position) {
  return Id{static_cast<std::uint32_t>(position)};
}

/// "No such thing": never a valid index.
template <IdType Id>
inline constexpr Id none = Id{std::numeric_limits<std::uint32_t>::max()};

/// One value per Id, stored contiguously.
template <IdType Id, typename T>
class Column {
 public:
  Column() = default;
  explicit Column(std::size_t size, const T& value = T{}) : values_(size, value) {}
  [[nodiscard]] T& operator[](Id id) { return values_[index(id)]; }
  [[nodiscard]] const T& operator[](Id id) const { return values_[index(id)]; }
  Id push_back(T value) {
    values_.push_back(std::move(value));
    return make_id<Id>(values_.size() - 1);
  }
  void reserve(std::size_t size) { values_.reserve(size); }
  void resize(std::size_t size, const T& value = T{}) { values_.resize(size, value); }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] std::span<const T> values() const { return values_; }
  [[nodiscard]] std::span<T> values() { return values_; }

 private:
  std::vector<T> values_;
};

}  // namespace foretrace
