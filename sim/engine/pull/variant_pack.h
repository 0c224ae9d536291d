// Eight variants side by side: a row per point, SIMD values of any register width, transposition.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#ifdef __SANITIZE_ADDRESS__
#define FORETRACE_ADDRESSES_CHECKED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FORETRACE_ADDRESSES_CHECKED
#endif
#endif

#ifdef FORETRACE_ADDRESSES_CHECKED  // in every inlined copy: a compiler then takes minutes
#define FORETRACE_ALWAYS_INLINE inline
#define FORETRACE_INLINE_LAMBDA
#else
#define FORETRACE_ALWAYS_INLINE inline __attribute__((always_inline))
#define FORETRACE_INLINE_LAMBDA __attribute__((always_inline))
#endif

namespace foretrace::engine {

inline constexpr std::size_t variants_per_pass = 8;

/// One point or weight of all variants of a pass: a cache line.
struct alignas(64) VariantRow {
  std::array<std::int64_t, variants_per_pass> variant;
};

/// step(0), ..., step(N - 1), unrolled whatever the what-if level: registers in an array stay
/// registers only where every index is a constant.
template <std::size_t N, typename Step>
FORETRACE_ALWAYS_INLINE void unrolled(const Step& step) {
  if constexpr (N > 0) {
    unrolled<N - 1>(step);
    step(std::integral_constant<std::size_t, N - 1>{});
  }
}

/// N numbers in one register; N is what the instruction set holds.
template <std::size_t N>
struct Register;
template <>
struct Register<8> {
  using Signed = std::int64_t __attribute__((vector_size(64)));
  using Unsigned = std::uint64_t __attribute__((vector_size(64)));
};
template <>
struct Register<4> {
  using Signed = std::int64_t __attribute__((vector_size(32)));
  using Unsigned = std::uint64_t __attribute__((vector_size(32)));
};
template <>
struct Register<2> {
  using Signed = std::int64_t __attribute__((vector_size(16)));
  using Unsigned = std::uint64_t __attribute__((vector_size(16)));
};

/// All variants of one value. Passed by reference only: no vector crosses a call's ABI.
template <std::size_t N>
struct VariantValues {
  using Signed = typename Register<N>::Signed;
  using Unsigned = typename Register<N>::Unsigned;
  static constexpr std::size_t parts = variants_per_pass / N;
  Signed part[parts];  // NOLINT(modernize-avoid-c-arrays): std::array drops vector attributes

  FORETRACE_ALWAYS_INLINE void load(const VariantRow& row) {
    unrolled<parts>([&](auto i) FORETRACE_INLINE_LAMBDA {
      std::memcpy(&part[i], &row.variant[i * N], sizeof part[i]);
    });
  }
  FORETRACE_ALWAYS_INLINE void store(VariantRow& row) const {
    unrolled<parts>([&](auto i) FORETRACE_INLINE_LAMBDA {
      std::memcpy(&row.variant[i * N], &part[i], sizeof part[i]);
    });
  }
  /// Adds wrap like add_ns.
  FORETRACE_ALWAYS_INLINE void add(const VariantValues& other) {
    unrolled<parts>([&](auto i) FORETRACE_INLINE_LAMBDA {
      part[i] = reinterpret_cast<Signed>(reinterpret_cast<Unsigned>(part[i]) +
                                         reinterpret_cast<Unsigned>(other.part[i]));
    });
  }
  FORETRACE_ALWAYS_INLINE void add(std::int64_t same) {
    unrolled<parts>([&](auto i) FORETRACE_INLINE_LAMBDA {
      part[i] = reinterpret_cast<Signed>(reinterpret_cast<Unsigned>(part[i]) +
                                         static_cast<std::uint64_t>(same));
    });
  }
  FORETRACE_ALWAYS_INLINE void raise_to(const VariantValues& other) {
    unrolled<parts>([&](auto i) FORETRACE_INLINE_LAMBDA {
      part[i] = part[i] > other.part[i] ? part[i] : other.part[i];
    });
  }
  /// Keeps a value where `source` is later than `after`, and takes `otherwise` elsewhere.
  FORETRACE_ALWAYS_INLINE void keep_where_later(const VariantValues& source,
                                                const VariantValues& after,
                                                std::int64_t otherwise) {
    unrolled<parts>([&](auto i) FORETRACE_INLINE_LAMBDA {
      part[i] = source.part[i] > after.part[i] ? part[i] : Signed{} + otherwise;
    });
  }
  /// Rows of two packed 32-bit numbers: the first (low) and the second of each, sign-extended.
  FORETRACE_ALWAYS_INLINE void keep_low() {
    unrolled<parts>([&](auto i) FORETRACE_INLINE_LAMBDA {
      part[i] = reinterpret_cast<Signed>(reinterpret_cast<Unsigned>(part[i]) << 32) >> 32;
    });
  }
  FORETRACE_ALWAYS_INLINE void keep_high() {
    unrolled<parts>([&](auto i) FORETRACE_INLINE_LAMBDA { part[i] = part[i] >> 32; });
  }
};
static_assert(std::endian::native == std::endian::little, "packed lags put the first in low bits");

/// Exchanges bit S of the row number with bit S of the column number of two registers.
template <std::size_t N, std::size_t S, std::size_t... J>
FORETRACE_ALWAYS_INLINE void exchange(typename Register<N>::Signed& a,
                                      typename Register<N>::Signed& b,
                                      std::index_sequence<J...> /*columns*/) {
  const typename Register<N>::Signed low =
      __builtin_shufflevector(a, b, static_cast<int>((J & S) == 0 ? J : N + J - S)...);
  b = __builtin_shufflevector(a, b, static_cast<int>((J & S) == 0 ? J + S : N + J)...);
  a = low;
}

template <std::size_t N, std::size_t S>
FORETRACE_ALWAYS_INLINE void exchange_all(typename Register<N>::Signed* rows) {
  if constexpr (S < N) {
    unrolled<N>([&](auto i) FORETRACE_INLINE_LAMBDA {
      if constexpr ((i & S) == 0) {
        exchange<N, S>(rows[i], rows[i + S], std::make_index_sequence<N>{});
      }
    });
    exchange_all<N, 2 * S>(rows);
  }
}

/// out[c][r] = in[r][c] for N x N numbers of 8 bytes.
template <std::size_t N>
FORETRACE_ALWAYS_INLINE void transpose_tile(const std::array<const void*, N>& in,
                                            const std::array<void*, N>& out) {
  typename Register<N>::Signed rows[N];  // NOLINT(modernize-avoid-c-arrays)
  unrolled<N>([&](auto i)
                  FORETRACE_INLINE_LAMBDA { std::memcpy(&rows[i], in[i], sizeof rows[i]); });
  exchange_all<N, 1>(&rows[0]);
  unrolled<N>([&](auto i)
                  FORETRACE_INLINE_LAMBDA { std::memcpy(out[i], &rows[i], sizeof rows[i]); });
}

/// rows[i].variant[v] = columns[v][i] for i < count; numbers of 8 bytes.
template <std::size_t N, typename T>
FORETRACE_ALWAYS_INLINE void interleave(const std::array<const T*, variants_per_pass>& columns,
                                        std::size_t first, std::size_t count, VariantRow* rows) {
  static_assert(sizeof(T) == sizeof(std::int64_t));
  std::size_t i = 0;
  for (; i + N <= count; i += N) {
    unrolled<variants_per_pass / N>([&](auto part) FORETRACE_INLINE_LAMBDA {
      std::array<const void*, N> in;
      std::array<void*, N> out;
      unrolled<N>([&](auto k) FORETRACE_INLINE_LAMBDA {
        in[k] = columns[part * N + k] + first + i;
        out[k] = &rows[i + k].variant[part * N];
      });
      transpose_tile<N>(in, out);
    });
  }
  for (; i < count; ++i) {
    for (std::size_t v = 0; v < variants_per_pass; ++v) {
      std::memcpy(&rows[i].variant[v], columns[v] + first + i, sizeof(T));
    }
  }
}

/// columns[v][first + i] = rows[i].variant[v] for i < count.
template <std::size_t N>
FORETRACE_ALWAYS_INLINE void separate(const VariantRow* rows, std::size_t count,
                                      const std::array<std::int64_t*, variants_per_pass>& columns,
                                      std::size_t first) {
  std::size_t i = 0;
  for (; i + N <= count; i += N) {
    unrolled<variants_per_pass / N>([&](auto part) FORETRACE_INLINE_LAMBDA {
      std::array<const void*, N> in;
      std::array<void*, N> out;
      unrolled<N>([&](auto k) FORETRACE_INLINE_LAMBDA {
        in[k] = &rows[i + k].variant[part * N];
        out[k] = columns[part * N + k] + first + i;
      });
      transpose_tile<N>(in, out);
    });
  }
  for (; i < count; ++i) {
    for (std::size_t v = 0; v < variants_per_pass; ++v) {
      columns[v][first + i] = rows[i].variant[v];
    }
  }
}

}  // namespace foretrace::engine
