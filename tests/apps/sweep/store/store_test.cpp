#include "apps/sweep/store/store.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

#include "apps/sweep/reuse.h"
#include "apps/sweep/store/database.h"
#include "apps/sweep/store/select.h"
#include "tests/apps/support/program.h"

namespace foretrace::sweeping {
namespace {

namespace fs = std::filesystem;
using test::scratch_file;

/// Four points; nothing is computed.
Sweep small_sweep() {
  auto sweep = parse_sweep(R"({"schema": "foretrace.sweep/1", "trace": "x.json", "apply": [null],
    "axes": [{"pointer": "/apply/0", "values": ["a", "b", "c", "d"]}]})",
                           "test.json", "");
  REQUIRE(sweep.ok());
  return std::move(*sweep);
}

StoreFacts facts_of(const Sweep& sweep) {
  return {.sweep = sweep.text, .path = sweep.path, .folder = {}, .inputs = "0", .version = "1"};
}

void fill(const std::string& folder) {
  const Sweep sweep = small_sweep();
  auto store = Store::open(folder);
  REQUIRE(store.ok());
  std::vector<PointResult> rows;
  for (std::uint64_t i = 0; i < 4; ++i) {
    rows.push_back({i, {static_cast<double>(i)}, {1000.0 + static_cast<double>(i), 1.5, 0.5}, ""});
  }
  REQUIRE(store->reset(sweep, facts_of(sweep), rows).ok());
  REQUIRE(store->finish().ok());
}

std::uint64_t rows_in(const std::string& folder) {
  const auto stored = open_stored(folder);
  REQUIRE_MESSAGE(stored.ok(), (stored.ok() ? "" : stored.error().message));
  const auto counts = select_points(*stored, {}, [](const SelectedPoint&) { return ok_status(); });
  REQUIRE(counts.ok());
  return counts->rows;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The superuser may write everywhere; tests of what may not be written run as nobody.
class AsNobody {
 public:
  AsNobody() : is_root_(::geteuid() == 0) { is_done_ = !is_root_ || ::seteuid(65534) == 0; }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (is_root_ && is_done_) REQUIRE(::seteuid(0) == 0);
  }
  [[nodiscard]] bool is_done() const { return is_done_; }

 private:
  bool is_root_;
  bool is_done_ = false;
};

/// Nothing in the folder can be written while this lives.
class Locked {
 public:
  explicit Locked(std::string folder) : folder_(std::move(folder)) { allow(fs::perms::owner_read); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { allow(fs::perms::owner_read | fs::perms::owner_write); }

 private:
  void allow(fs::perms perms) {
    const fs::perms others = fs::perms::group_read | fs::perms::others_read;
    const fs::perms enter = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      fs::permissions(entry.path(), perms | others);
    }
    fs::permissions(folder_, perms | others | enter);
  }
  std::string folder_;
};

/// Whether anybody may enter every folder on the way.
bool is_open_to_all(const fs::path& folder) {
  for (fs::path at = fs::absolute(folder); at.has_relative_path(); at = at.parent_path()) {
    if ((fs::status(at).permissions() & fs::perms::others_exec) == fs::perms::none) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("sweep store: results are shown from a folder that nobody may write") {
  const std::string folder = scratch_file("store_read only?");  // a name that is special in a URI
  fill(folder);
  const Locked locked(folder);
  if (::geteuid() == 0 && !is_open_to_all(folder)) {
    MESSAGE("skipped: nobody else may enter the scratch folder");
    return;
  }
  const AsNobody nobody;
  REQUIRE(nobody.is_done());
  CHECK(rows_in(folder) == 4);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++files;
  CHECK(files == 2);  // the store and its lock
  const auto writing = Store::open(folder);
  REQUIRE_FALSE(writing.ok());
  CHECK(writing.error().message.find("cannot write") != std::string::npos);
}

TEST_CASE("sweep store: a damaged one is refused, and replaced only where that is asked for") {
  const std::string folder = scratch_file("store_damaged");
  fill(folder);
  {
    std::fstream file(store_file(folder), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);  // behind the header of the file: the first page
    file << std::string(8000, '\xff');
  }
  const auto refused = Store::open(folder);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("is damaged") != std::string::npos);
  CHECK_FALSE(open_stored(folder).ok());
  {
    auto fresh = Store::open(folder, WhenDamaged::replace);
    REQUIRE_MESSAGE(fresh.ok(), (fresh.ok() ? "" : fresh.error().message));
    CHECK(fresh->is_empty());
  }
  CHECK(fs::exists(store_file(folder) + ".damaged"));
  fill(folder);
  CHECK(rows_in(folder) == 4);
}

TEST_CASE("sweep store: figures that are none, lost reasons and views lead nowhere") {
  for (const auto& [change, message] :
       {std::pair{"UPDATE points SET step_ns = 'abc' WHERE id = 1", "a figure is not a number"},
        {"UPDATE points SET reason = 77 WHERE id = 1", "its reason is missing"},
        {"UPDATE points SET id = -5 WHERE id = 1", "a figure is not a number"},
        {"DROP VIEW results; ALTER TABLE points RENAME TO other; "
         "CREATE VIEW points AS SELECT * FROM other",
         "points"}}) {
    const std::string folder = scratch_file("foreign_store");
    fs::remove_all(folder);
    fill(folder);
    Database foreign;
    REQUIRE(foreign.open_for_writing(store_file(folder)).ok());
    REQUIRE(foreign.run(change).ok());
    const auto stored = open_stored(folder);
    const auto counts =
        stored.ok() ? select_points(*stored, {}, [](const SelectedPoint&) { return ok_status(); })
                    : stored.error();
    REQUIRE_FALSE(counts.ok());
    CAPTURE(counts.error().message);
    CHECK(counts.error().message.find(message) != std::string::npos);
  }
}

TEST_CASE("sweep store: one of a program with fewer metrics is shown, and not gone on with") {
  const std::string folder = scratch_file("store_of_before");
  fill(folder);
  const auto change = [&](const char* sql) {
    Database database;
    REQUIRE(database.open_for_writing(store_file(folder)).ok());
    REQUIRE(database.run(sql).ok());
  };
  change(
      "DROP VIEW results; ALTER TABLE points DROP COLUMN time_ratio; "
      "UPDATE facts SET value = 'foretrace.sweep_store/1' WHERE name = 'schema'");
  const auto stored = open_stored(folder);
  REQUIRE_MESSAGE(stored.ok(), stored.error().message);
  CHECK(stored->sweep.metrics.size() == 2);
  std::uint64_t rows = 0;
  const auto seen = stored->store.for_each(stored->sweep, [&](const PointResult& row) {
    CHECK(row.metrics == std::vector{1000.0 + static_cast<double>(rows++), 1.5});
    return ok_status();
  });
  REQUIRE(seen.ok());
  CHECK(rows == 4);
  {
    const Sweep sweep = small_sweep();
    auto store = Store::open(folder);
    REQUIRE(store.ok());
    const auto reuse = reuse_store(sweep, facts_of(sweep), *store);
    REQUIRE_FALSE(reuse.ok());
    CHECK(reuse.error().message ==
          "the folder contains results without the metric 'time_ratio' of this sweep: choose "
          "another one, or compute all of them again");
  }
  change("ALTER TABLE points RENAME COLUMN speedup TO gain");
  const auto unknown = open_stored(folder);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().message.find("contain the unknown metric 'gain'") != std::string::npos);
}

TEST_CASE("sweep store: a sound one is not replaced, neither is somebody else's database") {
  const std::string folder = scratch_file("store_sound");
  fill(folder);
  {
    const auto kept = Store::open(folder, WhenDamaged::replace);
    REQUIRE(kept.ok());
    CHECK_FALSE(kept->is_empty());
  }
  CHECK_FALSE(fs::exists(store_file(folder) + ".damaged"));
}

TEST_CASE("sweep store: a file in the lock's place that is none stays as it is") {
  const std::string folder = scratch_file("store_lock");
  fs::create_directories(folder);
  const std::string lock = (fs::path(folder) / "sweep.lock").string();
  std::ofstream(lock) << "my notes\n";
  const auto refused = Store::open(folder);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("is not the lock of a sweep and is left alone") !=
        std::string::npos);
  CHECK(text_of(lock) == "my notes\n");
  CHECK_FALSE(fs::exists(store_file(folder)));
}

TEST_CASE("sweep store: the lock is never a link to somewhere else") {
  const std::string folder = scratch_file("store_link");
  fs::create_directories(folder);
  const std::string target = scratch_file("store_link_target");
  std::ofstream(target) << "123";
  fs::create_symlink(fs::absolute(target), fs::path(folder) / "sweep.lock");
  const auto refused = Store::open(folder);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("cannot write") == 0);
  CHECK(text_of(target) == "123");
}

TEST_CASE("sweep store: results do not go through a link, also one to nowhere") {
  const std::string folder = scratch_file("store_linked");
  fs::create_directories(folder);
  const std::string target = scratch_file("store_linked_target");
  fs::create_symlink(fs::absolute(target), store_file(folder));
  const auto refused = Store::open(folder);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("it is a link, expected a file or none") != std::string::npos);
  CHECK_FALSE(fs::exists(target));
}

TEST_CASE("sweep store: a lock that a process has left is taken over") {
  const std::string folder = scratch_file("store_left");
  fs::create_directories(folder);
  const std::string lock = (fs::path(folder) / "sweep.lock").string();
  std::ofstream(lock) << "999999999";
  const auto store = Store::open(folder);
  REQUIRE(store.ok());
  CHECK(text_of(lock) == std::to_string(::getpid()));
}

}  // namespace foretrace::sweeping
