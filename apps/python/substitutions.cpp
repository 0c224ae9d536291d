// Graph substitution as a game, for agents that are written in Python.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "apps/python/failure.h"
#include "apps/questions/substitution/environment.h"

namespace py = pybind11;

namespace foretrace::python {
namespace {

std::shared_ptr<SubstitutionEnvironment> environment_of(const std::string& trace,
                                                        const std::vector<std::string>& rules,
                                                        const std::string& goal,
                                                        const std::string& configs) {
  if (goal != "makespan" && goal != "sum") {
    throw Failure("goal: got '" + goal + "', expected makespan or sum");
  }
  const auto recording = taken(load(trace, {.catalogue = known(configs)}));
  const auto specs = taken(parse_stack(rules));
  SubstitutionOptions options;
  if (goal == "sum") options.goal = SubstitutionGoal::sum;
  return std::make_shared<SubstitutionEnvironment>(
      std::make_shared<const Substitutions>(taken(Substitutions::of(recording, specs, options))));
}

py::dict cost_of(const SubstitutionCost& cost) {
  py::dict result;
  result["sum_ns"] = cost.sum_ns;
  result["makespan_ns"] = cost.makespan_ns;
  result["tasks"] = cost.tasks;
  return result;
}

}  // namespace

void add_substitutions(py::module_& module) {
  using Environment = SubstitutionEnvironment;
  py::class_<Environment, std::shared_ptr<Environment>>(module, "SubstitutionEnvironment")
      .def(py::init(&environment_of), py::arg("trace"), py::arg("rules"), py::arg("goal"),
           py::arg("configs"), Unlocked())
      .def_property_readonly("actions",
                             [](const Environment& self) {
                               const auto texts = self.rules().actions();
                               return std::vector<std::string>(texts.begin(), texts.end());
                             })
      .def_property_readonly("taken", [](const Environment& self) { return self.state().taken(); })
      .def("cost", [](const Environment& self) { return cost_of(self.state().cost()); })
      .def("reset", &Environment::reset)
      .def(
          "mask", [](Environment& self) { return taken(self.mask()); }, Unlocked())
      .def("step",
           [](Environment& self, std::size_t action) {
             SubstitutionStep step;
             {
               const py::gil_scoped_release unlocked;
               step = taken(self.step(action));
             }
             return py::make_tuple(step.reward, step.done);
           })
      .def("search", [](const Environment& self, double relaxation, std::size_t most_states) {
        SubstitutionFound found;
        {
          const py::gil_scoped_release unlocked;
          found = taken(search_substitutions(
              self.rules(), {.relaxation = relaxation, .most_states = most_states}));
        }
        py::dict result = cost_of(found.cost);
        result["actions"] = found.actions;
        result["states"] = found.states;
        result["complete"] = found.is_complete;
        return result;
      });
}

}  // namespace foretrace::python
