// Tar archives made in tests.
#pragma once

#include <cstdio>
#include <string>

namespace foretrace::test {

/// One header block with a valid checksum, as tar writes it.
inline std::string tar_header(const std::string& name, std::size_t size, char type = '0') {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  char digits[13] = {};
  std::snprintf(digits, sizeof digits, "%011zo", size);
  block.replace(124, 11, digits);
  block.replace(148, 8, "        ");
  block[156] = type;
  block.replace(257, 8, std::string("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : block) {
    sum += static_cast<unsigned char>(c);
  }
  char checksum[8] = {};
  std::snprintf(checksum, sizeof checksum, "%06o", sum);
  block.replace(148, 7, std::string(checksum, 7));
  return block;
}

inline std::string tar_file(const std::string& name, const std::string& bytes, char type = '0') {
  std::string padded = bytes;
  padded.resize((bytes.size() + 511) / 512 * 512, '\0');
  return tar_header(name, bytes.size(), type) + padded;
}

}  // namespace foretrace::test
