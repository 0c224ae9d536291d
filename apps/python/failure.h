// How what goes wrong in C++ reaches Python.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <pybind11/pybind11.h>

#include "apps/python/documents.h"
#include "sim/core/result.h"

namespace foretrace::python {

/// What Python sees as foretrace.Error.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename T>
T taken(Result<T> result) {
  if (!result.ok()) throw Failure(result.error().message);
  return std::move(*result);
}

inline void require(const Status& status) {
  if (!status.ok()) throw Failure(status.error().message);
}

inline CataloguePtr known(const std::string& configs) { return taken(catalogue_of(configs)); }

/// The lock of the interpreter is released meanwhile.
using Unlocked = pybind11::call_guard<pybind11::gil_scoped_release>;

/// Graph substitution as a game.
void add_substitutions(pybind11::module_& module);
/// Sweeps whose points other processes compute.
void add_sweeps(pybind11::module_& module);

}  // namespace foretrace::python
