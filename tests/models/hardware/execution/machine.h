// Execution models from JSON text, and works to time on them.
#pragma once

#include <string>

#include <doctest/doctest.h>

#include "models/hardware/execution/exec_model.h"
#include "sim/core/config.h"

namespace foretrace::test {

inline Result<ExecModel> read_machine(const std::string& text) {
  const auto object = parse_config(text);
  REQUIRE_MESSAGE(object.ok(), (object.ok() ? "" : object.error().message));
  return ExecModel::read(*object);
}

inline ExecModel machine(const std::string& text) {
  auto model = read_machine(text);
  REQUIRE_MESSAGE(model.ok(), (model.ok() ? "" : model.error().message));
  return *std::move(model);
}

inline std::string machine_error(const std::string& text) {
  const auto model = read_machine(text);
  REQUIRE_FALSE(model.ok());
  return model.error().message;
}

/// A product of numbers of one byte.
inline OperatorWork product_of(double m, double n, double k) {
  OperatorWork work;
  work.kind = WorkKind::product;
  work.m = m;
  work.n = n;
  work.k = k;
  work.number_bytes = 1;
  work.input_bytes = m * k;
  work.weight_bytes = k * n;
  work.output_bytes = m * n;
  return work;
}

inline OperatorWork vector_of(double numbers) {
  OperatorWork work;
  work.numbers = numbers;
  work.number_bytes = 1;
  work.input_bytes = 2 * numbers;
  return work;
}

/// Memory that never limits; 1 operation number by number and 1000 multiplications per ns.
inline ExecDevice fast_memory() { return {1e12, 1, 1000, 1e12}; }

}  // namespace foretrace::test
