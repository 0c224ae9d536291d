// A value that costs time and is not always asked for.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

namespace foretrace {

/// Made when it is first asked for, by whichever thread; copies share it.
template <typename T>
class Once {
 public:
  template <typename Make>
  [[nodiscard]] const T& get(const Make& make) const {
    std::call_once(cell_->made, [&] { cell_->value.emplace(make()); });
    return *cell_->value;
  }

 private:
  struct Cell {
    std::once_flag made;
    std::optional<T> value;
  };
  std::shared_ptr<Cell> cell_ = std::make_shared<Cell>();
};

}  // namespace foretrace
