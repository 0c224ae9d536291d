#include "trace/io/read_budget.h"

#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace foretrace::trace {
namespace {

// Between two looks at the memory; one takes microseconds.
constexpr std::uint64_t piece_bytes = std::uint64_t{16} << 20U;

/// Bytes of the process in memory; 0 where the system does not say.
std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  const long page = ::sysconf(_SC_PAGESIZE);
  return file >> size >> resident && page > 0 ? resident * static_cast<std::uint64_t>(page) : 0;
}

class Within final : public ByteSource {
 public:
  Within(std::shared_ptr<ReadBudget> budget, std::unique_ptr<ByteSource> source)
      : budget_(std::move(budget)), source_(std::move(source)) {
    // Readers open a plain file by its name.
    if (!source_->plain_file().empty()) budget_->add(source_->file_size());
  }

  Result<std::size_t> read(std::span<char> buffer) override {
    FORETRACE_TRY(auto bytes, source_->read(buffer));
    if (source_->plain_file().empty()) budget_->add(bytes);
    since_look_ += bytes;
    if (since_look_ >= piece_bytes) {
      since_look_ = 0;
      FORETRACE_TRY(budget_->check(source_->path()));
    }
    return bytes;
  }
  [[nodiscard]] std::uint64_t consumed() const override { return source_->consumed(); }
  [[nodiscard]] std::uint64_t file_size() const override { return source_->file_size(); }
  [[nodiscard]] std::string_view trouble() const override { return source_->trouble(); }
  [[nodiscard]] std::string_view path() const override { return source_->path(); }
  [[nodiscard]] std::string_view plain_file() const override { return source_->plain_file(); }

 private:
  std::shared_ptr<ReadBudget> budget_;
  std::unique_ptr<ByteSource> source_;
  std::uint64_t since_look_ = 0;
};

}  // namespace

ReadBudget::ReadBudget() : ReadBudget(always_memory, most_memory_per_byte) {}
ReadBudget::ReadBudget(std::uint64_t always, std::uint64_t per_byte)
    : always_(always), per_byte_(per_byte), at_start_(resident_bytes()) {}

Status ReadBudget::check(std::string_view path) const {
  const std::uint64_t now = resident_bytes();
  const std::uint64_t grown = now > at_start_ ? now - at_start_ : 0;
  const std::uint64_t unpacked = unpacked_;
  if (grown <= always_ || (grown - always_) / per_byte_ <= unpacked) return ok_status();
  return Error{ErrorCode::bad_format,
               fmt::format("{}: {} bytes need {} bytes of memory, expected at most {} for each",
                           path, unpacked, grown, per_byte_)};
}

std::unique_ptr<ByteSource> within(std::shared_ptr<ReadBudget> budget,
                                   std::unique_ptr<ByteSource> source) {
  if (budget == nullptr) return source;
  return std::make_unique<Within>(std::move(budget), std::move(source));
}

}  // namespace foretrace::trace
