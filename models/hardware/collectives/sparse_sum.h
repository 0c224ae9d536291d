// Sums of gradients whose zero blocks stay where they are: what each link has to carry.
#pragma once

#include <compare>
#include <cstdint>

namespace foretrace {

/// Who adds up.
enum class SparseMethod : std::uint8_t {
  servers,    ///< machines of their own, block by block as the blocks come in
  network,    ///< the switches, block by block
  all_gather  ///< everybody gets everybody's blocks and adds them up
};

/// What workers send of a buffer. A block of one number is a sparse gradient with one index each.
struct SparseBlocks {
  double density = 1;    ///< share of one worker's blocks that are not all zero
  double overlap = 0;    ///< share of these that all workers have in common
  double numbers = 256;  ///< of a block
  double number_bytes = 4;
  double index_bytes = 4;  ///< of a block

  // NOLINTNEXTLINE(modernize-use-nullptr): no pointer is written here
  friend auto operator<=>(const SparseBlocks&, const SparseBlocks&) = default;
  /// Bytes that travel per byte of blocks.
  [[nodiscard]] double with_index() const { return 1 + index_bytes / (numbers * number_bytes); }
};

/// Adding what others sent: each number is read, as is the one that it goes to, which is written.
inline constexpr double adding_passes = 3;

/// How a job adds up gradients.
struct SparseSum {
  SparseMethod method = SparseMethod::servers;
  SparseBlocks blocks;
  double servers = 0;  ///< 0: as many as workers
  // NOLINTNEXTLINE(modernize-use-nullptr): no pointer is written here
  friend auto operator<=>(const SparseSum&, const SparseSum&) = default;
};

/// Share of blocks that are not zero for somebody: common ones, and of the others those that
/// `workers` independent draws hit.
[[nodiscard]] double union_density(const SparseBlocks& blocks, double workers);

/// Bytes per byte of the buffer, indices included.
struct SparseLoad {
  double up = 0;      ///< that a worker sends
  double down = 0;    ///< that it receives
  double server = 0;  ///< of the fuller direction of a server; 0: there are none
  [[nodiscard]] double fullest() const;
};
/// `servers`: how many, each with the link of a worker.
[[nodiscard]] SparseLoad sparse_load(SparseMethod method, const SparseBlocks& blocks,
                                     double workers, double servers);

/// Bytes that a ring sends, and receives, per byte of the buffer: 2 (n - 1) / n.
[[nodiscard]] double ring_load(double workers);

}  // namespace foretrace
