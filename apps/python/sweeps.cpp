// Sweeps whose points other processes compute: the feed that hands them out, and the worker.
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "apps/python/failure.h"
#include "apps/sweep/feed.h"

namespace py = pybind11;

namespace foretrace::python {
namespace {

/// A computed point as it travels: number, metrics, reason.
using Row = std::tuple<std::uint64_t, std::vector<double>, std::string>;

std::vector<Row> rows_of(std::vector<sweeping::PointResult> points) {
  std::vector<Row> rows;
  rows.reserve(points.size());
  for (sweeping::PointResult& one : points) {
    rows.emplace_back(one.point, std::move(one.metrics), std::move(one.reason));
  }
  return rows;
}

std::vector<sweeping::PointResult> points_of(std::vector<Row> rows) {
  std::vector<sweeping::PointResult> points;
  points.reserve(rows.size());
  for (auto& [point, metrics, reason] : rows) {
    points.push_back(
        {.point = point, .where = {}, .metrics = std::move(metrics), .reason = std::move(reason)});
  }
  return points;
}

std::unique_ptr<sweeping::SweepFeed> open_feed(const std::string& path, const std::string& text,
                                               const std::string& folder, bool fresh,
                                               const std::string& configs) {
  auto sweep =
      taken(text.empty() ? sweeping::read_sweep(path) : sweeping::parse_sweep(text, path, ""));
  return taken(sweeping::SweepFeed::open(
      std::move(sweep), folder,
      {.catalogue = known(configs), .threads = 0, .fresh = fresh, .version = FORETRACE_VERSION}));
}

py::dict summary_of(const sweeping::SweepRun& run) {
  py::dict summary;
  summary["points"] = run.points;
  summary["found"] = run.found;
  summary["old_rows"] = run.old_rows;
  summary["reused"] = run.reused;
  summary["computed"] = run.computed;
  summary["unwanted"] = run.unwanted;
  summary["seconds"] = run.seconds;
  summary["doubts"] = run.doubts;
  return summary;
}

}  // namespace

void add_sweeps(py::module_& module) {
  using sweeping::SweepFeed;
  using sweeping::SweepWorker;
  py::class_<SweepFeed>(module, "SweepFeed")
      .def(py::init(&open_feed), py::arg("path"), py::arg("text"), py::arg("folder"),
           py::arg("fresh"), py::arg("configs"), Unlocked())
      .def_property_readonly("text", [](const SweepFeed& self) { return self.sweep().text; })
      .def_property_readonly("folder", [](const SweepFeed& self) { return self.sweep().folder; })
      .def_property_readonly("inputs", &SweepFeed::inputs)
      .def("take", &SweepFeed::take, py::arg("most"), Unlocked())
      .def(
          "add",
          [](SweepFeed& self, std::vector<Row> rows) {
            require(self.add(points_of(std::move(rows))));
          },
          py::arg("rows"), Unlocked())
      .def("finish",
           [](SweepFeed& self) {
             const auto run = [&] {
               const py::gil_scoped_release unlocked;
               return taken(self.finish());
             }();
             return summary_of(run);
           })
      .def("progress", [](const SweepFeed& self) {
        const auto now = self.progress();
        return py::make_tuple(now.done, now.points, now.per_second, now.seconds_left, now.best);
      });
  py::class_<SweepWorker>(module, "SweepWorker")
      .def(py::init(
               [](const std::string& text, const std::string& folder, const std::string& configs) {
                 return taken(SweepWorker::open(text, folder, known(configs)));
               }),
           py::arg("text"), py::arg("folder"), py::arg("configs"), Unlocked())
      .def_property_readonly("inputs", &SweepWorker::inputs)
      .def(
          "evaluate",
          [](SweepWorker& self, const std::vector<std::uint64_t>& points) {
            return rows_of(taken(self.evaluate(points)));
          },
          py::arg("points"), Unlocked());
}

}  // namespace foretrace::python
