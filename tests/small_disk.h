// A disk of a few hundred kilobytes, where the machine lets us mount one.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include <sys/mount.h>

namespace foretrace::test {

class SmallDisk {
 public:
  /// `size` as mount takes it: "256k".
  SmallDisk(std::string folder, const std::string& size) : folder_(std::move(folder)) {
    std::filesystem::create_directory(folder_);
    mounted_ = ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) {
      ::umount2(folder_.c_str(), MNT_DETACH);
    }
  }
  /// False without the right to mount: then say "SKIPPED" and return.
  [[nodiscard]] bool is_there() const { return mounted_; }

 private:
  std::string folder_;
  bool mounted_ = false;
};

}  // namespace foretrace::test
