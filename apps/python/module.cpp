// The compiled half of the Python package: files to documents, and the predictor. The other half,
// foretrace/__init__.py, makes objects of them.
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "apps/predictor/predictor.h"
#include "apps/python/documents.h"
#include "apps/python/failure.h"

namespace py = pybind11;

namespace foretrace::python {
namespace {

/// A placement as Python gives it: the members of JobPlacement in their order.
using PlacementTuple =
    std::tuple<std::string, std::uint32_t, std::string, double, double, double, double>;

void add_predictor(py::module_& module) {
  py::class_<StepPrediction>(module, "StepPrediction")
      .def_readonly("step_ns", &StepPrediction::step_ns)
      .def_readonly("low_ns", &StepPrediction::low_ns)
      .def_readonly("high_ns", &StepPrediction::high_ns)
      .def_readonly("memory_bytes", &StepPrediction::memory_bytes)
      .def_readonly("fits", &StepPrediction::fits)
      .def_readonly("samples", &StepPrediction::samples)
      .def("speedup", &StepPrediction::speedup, py::arg("own_step_ns"))
      .def("time_ratio", &StepPrediction::time_ratio, py::arg("own_step_ns"))
      .def("__repr__", [](const StepPrediction& step) {
        return "StepPrediction(step_ns=" + std::to_string(step.step_ns) +
               ", low_ns=" + std::to_string(step.low_ns) +
               ", high_ns=" + std::to_string(step.high_ns) +
               ", memory_bytes=" + std::to_string(step.memory_bytes) +
               ", fits=" + (step.fits ? "True" : "False") + ")";
      });
  py::enum_<Sharing>(module, "Sharing")
      .value("time_slices", Sharing::time_slices)
      .value("mps", Sharing::mps)
      .value("mig", Sharing::mig);
  py::class_<Corun>(module, "Corun")
      .def_readonly("first", &Corun::first)
      .def_readonly("second", &Corun::second)
      .def_readonly("first_share", &Corun::first_share)
      .def_readonly("second_share", &Corun::second_share)
      .def_readonly("fits", &Corun::fits)
      .def_readonly("knows_memory", &Corun::knows_memory);
  py::class_<RestartCost>(module, "RestartCost")
      .def_readonly("state_bytes", &RestartCost::state_bytes)
      .def_readonly("save_ns", &RestartCost::save_ns)
      .def_readonly("load_ns", &RestartCost::load_ns);
  py::class_<Predictor>(module, "Predictor")
      .def(py::init([](const std::vector<std::string>& paths, const std::string& configs,
                       const std::string& step) {
             return taken(Predictor::load(paths, {.catalogue = known(configs), .step = step}));
           }),
           py::arg("paths"), py::arg("configs"), py::arg("step") = "median", Unlocked())
      .def(
          "predict",
          [](const Predictor& self, const std::string& accelerator, std::uint32_t accelerators,
             const std::string& cluster, double compute, double copies, double communication,
             double host) {
            return taken(self.predict(
                {accelerator, accelerators, cluster, compute, copies, communication, host}));
          },
          py::kw_only(), py::arg("accelerator") = "", py::arg("accelerators") = 0,
          py::arg("cluster") = "", py::arg("compute") = 1.0, py::arg("copies") = 1.0,
          py::arg("communication") = 1.0, py::arg("host") = 1.0, Unlocked())
      .def(
          "_predict_many",
          [](const Predictor& self, const std::vector<PlacementTuple>& placements) {
            std::vector<StepPrediction> answers;
            answers.reserve(placements.size());
            for (std::size_t i = 0; i < placements.size(); ++i) {
              const auto& [accelerator, accelerators, cluster, compute, copies, communication,
                           host] = placements[i];
              auto answer = self.predict(
                  {accelerator, accelerators, cluster, compute, copies, communication, host});
              if (!answer.ok()) {
                throw Failure("placement " + std::to_string(i) + ": " + answer.error().message);
              }
              answers.push_back(*answer);
            }
            return answers;
          },
          py::arg("placements"), Unlocked())
      .def(
          "throughputs",
          [](const Predictor& self, const std::vector<std::string>& accelerators,
             const std::vector<std::uint32_t>& counts) {
            const auto flat = taken(self.throughputs(accelerators, counts));
            std::vector<std::vector<double>> rows(accelerators.size());
            for (std::size_t i = 0; i < flat.size(); ++i) {
              rows[i / counts.size()].push_back(flat[i]);
            }
            return rows;
          },
          py::arg("accelerators"), py::arg("counts"), Unlocked())
      .def(
          "restart_cost",
          [](const Predictor& self, double write_bytes_per_s, double read_bytes_per_s,
             std::int64_t start_ns) {
            return taken(self.restart_cost({write_bytes_per_s, read_bytes_per_s, start_ns}));
          },
          py::kw_only(), py::arg("write_bytes_per_s"), py::arg("read_bytes_per_s"),
          py::arg("start_ns") = 0, Unlocked())
      .def_static(
          "corun",
          [](const Predictor& first, const Predictor& second, Sharing sharing) {
            return taken(Predictor::corun(first, second, sharing));
          },
          py::arg("first"), py::arg("second"), py::arg("sharing") = Sharing::time_slices,
          Unlocked())
      .def_property_readonly("tasks", &Predictor::tasks)
      .def_property_readonly("step_ns", &Predictor::step_ns);
}

py::object known_number(double value) {
  return value < 0 ? py::object(py::none()) : py::object(py::float_(value));
}

/// What Python's Kernel is made of, by the names of its members.
py::dict members_of(const costing::KernelKind& kind) {
  py::dict members;
  members["name"] = std::string(kind.text.name);
  members["operator"] = std::string(kind.text.operator_name);
  members["shapes_text"] = std::string(kind.text.shapes);
  members["types_text"] = std::string(kind.text.types);
  members["grid"] = py::cast(kind.text.grid);
  members["block"] = py::cast(kind.text.block);
  members["kind"] = std::string(to_string(kind.traits.kernel_class));
  members["precision"] = std::string(to_string(kind.traits.precision));
  members["flops"] = known_number(kind.amount.flops);
  const int width = bytes_per_number(kind.traits.precision);
  members["bytes"] =
      known_number(width > 0 && kind.amount.numbers >= 0 ? kind.amount.numbers * width : -1.0);
  members["product"] = py::none();
  if (const auto& shape = kind.amount.gemm) {
    members["product"] = py::make_tuple(shape->batch, shape->m, shape->n, shape->k);
  }
  members["tile"] = py::none();
  if (kind.tile) members["tile"] = py::make_tuple(kind.tile->m, kind.tile->n);
  members["count"] = kind.count;
  members["total_ns"] = kind.total_ns;
  return members;
}

void add_recordings(py::module_& module) {
  py::class_<Prices>(module, "Prices")
      .def(py::init<std::string, std::string, std::string>(), py::arg("table"), py::arg("where"),
           py::arg("label"));
  py::class_<RecordedRun>(module, "RecordedRun")
      .def(py::init([](const std::vector<std::string>& paths, const std::string& configs,
                       bool strict, const std::string& unprofiled_step) {
             return taken(RecordedRun::read(paths, known(configs), strict, unprofiled_step));
           }),
           py::arg("paths"), py::arg("configs"), py::arg("strict") = false,
           py::arg("unprofiled_step") = "", Unlocked())
      .def(
          "simulate",
          [](const RecordedRun& self, const std::string& step, const std::string& engine) {
            return taken(self.simulate({step, engine}));
          },
          py::arg("step"), py::arg("engine"), Unlocked())
      .def(
          "whatif",
          [](const RecordedRun& self, const std::vector<std::string>& what_ifs,
             const std::string& accelerator, const std::string& step, const std::string& engine) {
            return taken(self.what_if(what_ifs, accelerator, {step, engine}));
          },
          py::arg("what_ifs"), py::arg("accelerator"), py::arg("step"), py::arg("engine"),
          Unlocked())
      .def("kernels",
           [](const RecordedRun& self, const std::string& where) {
             std::vector<costing::KernelKind> kinds;
             {
               const py::gil_scoped_release unlocked;
               kinds = taken(self.kernels(where));
             }
             py::list members;
             for (const costing::KernelKind& kind : kinds) members.append(members_of(kind));
             return members;
           })
      .def(
          "price",
          [](const RecordedRun& self, const Prices& prices,
             const std::vector<std::string>& what_ifs, const std::string& accelerator,
             const std::string& step, const std::string& engine) {
            PricedAnswer answer = taken(self.price(prices, what_ifs, accelerator, {step, engine}));
            return std::pair(std::move(answer.document), answer.path_share);
          },
          Unlocked())
      .def(
          "search",
          [](const RecordedRun& self, const std::vector<std::string>& what_ifs,
             const std::string& accelerator, const std::string& by, const std::string& fit,
             std::size_t members, std::size_t trials, const std::vector<std::string>& without,
             const std::string& step, const std::string& engine) {
            return taken(self.search(what_ifs, accelerator, {by, fit, members, trials, without},
                                     {step, engine}));
          },
          Unlocked())
      .def_property_readonly("tasks", &RecordedRun::tasks);
}

}  // namespace
}  // namespace foretrace::python

PYBIND11_MODULE(_foretrace, module) {
  using namespace foretrace::python;
  module.attr("source_configs") = FORETRACE_SOURCE_CONFIGS;
  module.attr("__version__") = FORETRACE_VERSION;
  py::register_exception<Failure>(module, "Error", PyExc_RuntimeError);
  add_recordings(module);
  add_predictor(module);
  add_substitutions(module);
  add_sweeps(module);
  module.def("is_scenario", &is_scenario, Unlocked());
  module.def("simulated_kind", &simulated_kind, Unlocked());
  module.def(
      "simulate_scenario",
      [](const std::string& path, const std::string& configs) {
        return taken(simulate_scenario(path, known(configs)));
      },
      Unlocked());
  module.def(
      "simulate_scenario_text",
      [](const std::string& text, const std::string& configs) {
        return taken(simulate_scenario_text(text, known(configs)));
      },
      Unlocked());
  module.def(
      "inspect",
      [](const std::vector<std::string>& paths, const std::string& configs) {
        return taken(inspect(paths, known(configs)));
      },
      Unlocked());
  module.def(
      "plan",
      [](const std::string& model, const std::string& cluster, const std::string& framework,
         const std::string& precision, std::size_t sequence, std::uint32_t gpus, double batch,
         std::size_t top, const std::string& configs) {
        return taken(plan({model, cluster, framework, precision, sequence}, gpus, batch, top,
                          known(configs)));
      },
      Unlocked());
  module.def(
      "answer_file",
      [](const std::string& path, const std::string& configs) {
        return taken(answer_file(path, known(configs)));
      },
      Unlocked());
  module.def(
      "sweep",
      [](const std::string& path, const std::string& text, const std::string& folder,
         std::size_t threads, std::size_t top, bool fresh, const std::string& configs) {
        return taken(sweep({path, text, folder, threads, top, fresh}, known(configs)));
      },
      Unlocked());
  module.def(
      "sweep_points",
      [](const std::string& folder, const std::string& where, std::size_t top, bool pareto) {
        return taken(sweep_points(folder, where, top, pareto));
      },
      Unlocked());
}
