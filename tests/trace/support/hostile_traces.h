// Small traces that are valid and hurt: the bytes of n of one thing.
#pragma once

#include <string>

namespace foretrace::trace::hostile {

[[nodiscard]] std::string threads(int n);
[[nodiscard]] std::string silent_threads(int n);
[[nodiscard]] std::string equal_correlations(int n);
[[nodiscard]] std::string device_synchronizations(int n);
[[nodiscard]] std::string stream_synchronizations(int n);
[[nodiscard]] std::string contradicted_synchronizations(int n);
[[nodiscard]] std::string event_waits(int n);
[[nodiscard]] std::string hidden_synchronizations(int n);
[[nodiscard]] std::string default_stream(int n);
[[nodiscard]] std::string devices(int n);
[[nodiscard]] std::string nested_modules(int n);
[[nodiscard]] std::string process_groups(int n);
[[nodiscard]] std::string planes(int n);
[[nodiscard]] std::string lines_and_metadata(int n);
/// Of XLA: an instruction with n operands in a computation that is called n times.
[[nodiscard]] std::string called_operands(int n);
/// Of XLA: calls of calls, of a fusion with many dimensions; beside n instructions.
[[nodiscard]] std::string calls_of_calls(int n);
/// Of XLA: kernels of one launch, of two programs in turn.
[[nodiscard]] std::string programs_in_turn(int n);
[[nodiscard]] std::string pickle_names_one_dictionary(int n);
[[nodiscard]] std::string pickle_nested_lists(int n);

}  // namespace foretrace::trace::hostile
