// The table of words.
#include "apps/cli/names/glossary.h"

#include <array>
#include <cstddef>

namespace foretrace::app {
namespace {

constexpr std::array words = {
    Word{"algorithm", "Of a collective: bytes of the buffer per second, as nccl-tests prints it.",
         "Compare kinds and rank counts by the bus bandwidth instead."},
    Word{"allocated",
         "Bytes in live tensors at the peak, as the allocator of the framework counts them.",
         "Compare it with reserved: the difference is cached or fragmented memory."},
    Word{
        "assumed",
        "A duration or a size that no record, table or formula supports, such as the memory of a "
        "run that was recorded without it.",
        "Record what is missing (record_shapes, profile_memory), or state the parameter yourself."},
    Word{
        "based_on",
        "What a time is based on: a measured curve, curves of fewer nodes, the latencies and rates "
        "of the library, or the formula of a file.",
        "foretrace calibrate LOG --cluster BASE writes a machine with curves of your own."},
    Word{"blocked_launch_calls",
         "Launches that took longer than usual without a recorded cause: the thread was preempted "
         "or waited for a lock.",
         "Record on an idle machine; above 5 % of the span the answer is low-confidence."},
    Word{"bubble", "Time in which a pipeline stage waits for its first or its next micro-batch.",
         "More micro-batches, or an interleaved or zero-bubble schedule, shorten it: foretrace "
         "plan compares them."},
    Word{"bus",
         "Of a collective: bytes that a rank sends per second, which the links bound whatever the "
         "number of ranks.",
         "Compare it with the link bandwidth of the machine: foretrace explain CLUSTER."},
    Word{"context", "Memory that the driver occupies on a device before the program allocates any.",
         "It counts against what fits and does not shrink with the batch."},
    Word{"cp", "Context parallelism: ranks that divide the positions of a sequence.",
         "foretrace plan tries it for long sequences."},
    Word{"critical_path",
         "The chain of work and waits that bounds a step: work outside of it does not lengthen the "
         "step.",
         "foretrace critical-path TRACE lists it; only a change on it can shorten the step."},
    Word{"device_clock",
         "Kernels were recorded before their launch: the clocks of GPU and CPU differ, and the GPU "
         "rows were moved by that much.",
         "Nothing to do if it is some microseconds; the replay is checked after the move."},
    Word{"device_computes", "Time in which a GPU runs kernels other than copies and collectives.",
         "foretrace critical-path TRACE names the kernels that bound the step."},
    Word{"device_copies", "Time in which a GPU copies and nothing else runs.",
         "Copies from the host: pinned memory and data_loader_workers; between layouts: "
         "channels_last."},
    Word{"device_period", "From the first operation of a step on the GPU to that of the next step.",
         "Where it is the longest of the periods, the GPU bounds the step."},
    Word{"device_waits_for_the_host",
         "Time in which the GPU has no work because the CPU has not launched any yet: the step is "
         "CPU-bound there.",
         "cuda_graph, compiled_region and data_loader_workers shorten it; foretrace whatif TRACE "
         "ranks them."},
    Word{"doubtful",
         "The same as low-confidence: a check of the replay failed, and the page says which.",
         "Read the line below the first one. --without-one-off cuts pauses at the start; longer "
         "recordings cure most of the rest."},
    Word{"dp", "Data parallelism: copies of the model that process different samples.",
         "foretrace explain parallel lists what it exchanges."},
    Word{"efficiency",
         "Samples per second of many GPUs over their number times those of one, which processes as "
         "many samples per step by accumulating gradients. 100 % loses nothing to communication.",
         "foretrace plan compares plans; exposed communication and bubbles are what is lost."},
    Word{"ep", "Expert parallelism: ranks that divide the experts of a layer.",
         "foretrace plan compares it with the other groups."},
    Word{"exposed",
         "Communication or copies that no computation overlaps: the step becomes that much shorter "
         "without them.",
         "overlap of communication, larger buckets or a faster network: foretrace list "
         "optimizations."},
    Word{"exposed_communication",
         "Communication that no computation overlaps, without waiting for late ranks: the step "
         "becomes that much shorter without it.",
         "overlap of communication, larger buckets or a faster network: foretrace list "
         "optimizations."},
    Word{"fast_device",
         "A check: the step if the GPU took no time, simulated, beside the time that the CPU alone "
         "takes by its events.",
         "A difference above 10 % means that a dependency on the GPU is missing or wrong: distrust "
         "what-ifs that speed it up."},
    Word{"fast_host",
         "A check: the step if the CPU took no time, simulated, beside the busy time of the GPU.",
         "A difference above 10 % means that a dependency on the CPU is missing or wrong: distrust "
         "what-ifs that speed it up."},
    Word{"first_token",
         "Of a served request: from its arrival to its first token, waiting included.",
         "Shorter prompts in a step, more replicas, or fewer requests in flight shorten it."},
    Word{"first_use",
         "Kernels or libraries were loaded, compiled or tuned during the recorded steps; later "
         "steps do not repeat it.",
         "Record after a warm-up of some steps, or cut it out with --without-one-off."},
    Word{"fits",
         "The memory that the run needs, as the allocator reserves it, is at most that of the "
         "device.",
         "--memory-budget and --fit ask about other sizes; the range of the memory says how sure "
         "it is."},
    Word{"formula",
         "A what-if that scales the selected kernels by a stated share instead of modelling each "
         "from its shape.",
         "Rankings leave it out; set its parameter to the share that you measured."},
    Word{"gap",
         "Time between two operations of a stream that were both ready, in which the GPU starts "
         "the second.",
         "Fewer and larger kernels (kernel_fusion), or a CUDA graph."},
    Word{"host", "The CPU of a rank: the program, the framework and the driver's calls.",
         "Where the GPU waits for it, fewer launches (cuda_graph, compiled_region) or "
         "data_loader_workers help."},
    Word{"host_period", "From the beginning of a step on the CPU to that of the next step.",
         "Where it is the longest of the periods, the CPU bounds the step."},
    Word{"initial_backlog",
         "The recording began while the GPU still had queued work, so its first step starts late.",
         "Let the profiler wait a step, or read the median step, which is the default."},
    Word{"late_device_work",
         "GPU work that started later than everything it waits for, without a recorded cause.",
         "foretrace explain unexplained says what to do about it."},
    Word{"late_kernels",
         "The share of the span by which GPU work started later than everything it waits for.",
         "foretrace explain unexplained says what to do about it."},
    Word{"late_rank",
         "A rank that the others wait for in each step, because its CPU or its GPU is slower.",
         "foretrace inspect RANKS names it and how late it is; remove_straggler predicts the step "
         "without it."},
    Word{"latencies_and_gaps",
         "Time in which the GPU is idle between launches that had been made: the start of kernels, "
         "and waits for events.",
         "Fewer and larger kernels (kernel_fusion), or a CUDA graph."},
    Word{"latency", "Time from the call that launches a kernel to its start on an idle GPU.",
         "--no-recorded-latency replaces each recorded one by the median of the trace."},
    Word{"live", "Bytes that a tensor occupies between its allocation and its release.",
         "foretrace inspect TRACE --memory names what is live at the peak."},
    Word{"live_peak", "The most bytes in live tensors at once.",
         "foretrace inspect TRACE --memory names what is live then."},
    Word{"low_confidence",
         "A check of the replay failed: the recorded steps are not reproduced, or too much of them "
         "has no recorded cause.",
         "The page names the check. --without-one-off cuts pauses at the start; longer recordings "
         "cure most of the rest."},
    Word{"maximum_saving",
         "How much shorter the step would be if all of that kind took no time, simulated: another "
         "path then takes over.",
         "It bounds what any what-if on that kind can gain."},
    Word{"measured", "A duration that was recorded, unchanged.",
         "Nothing to do: this share of the step stays as recorded."},
    Word{"mechanism",
         "A what-if that changes the graph as the method does: tasks, dependencies, tensors.",
         "foretrace explain NAME says what it changes and what it leaves out."},
    Word{"mfu",
         "Model FLOP utilization: the arithmetic of the model in a step over what the GPUs could "
         "do in that time at their peak.",
         "Compare it for the same model and precision only."},
    Word{"micro_batch", "The samples that one pass of a data-parallel copy processes at once.",
         "More of them per step shorten a pipeline's bubble; larger ones use a GPU better."},
    Word{"missing_records",
         "Waits between streams were not recorded (recorders before 2024), so some follow from "
         "heuristics.",
         "Record with a newer profiler; the page says how much depends on it."},
    Word{"no_recorded_starts",
         "The trace states durations but no start times: order follows from dependencies alone.",
         "Record with a profiler (foretrace collect, Kineto) to compare with measured steps."},
    Word{"noise",
         "A change that is smaller than the scatter of the recorded steps: the recording cannot "
         "tell it from none.",
         "Record more steps."},
    Word{"one_off",
         "Work or a pause that later steps do not repeat: compilation, allocation, first use.",
         "--without-one-off cuts it out."},
    Word{"pieces", "How many separate stretches of the critical path have this name.",
         "Many short pieces point at launches and gaps, few long ones at kernels."},
    Word{"pp", "Pipeline parallelism: ranks that divide the layers into stages.",
         "More micro-batches, or another schedule, shorten its bubble: foretrace plan compares "
         "them."},
    Word{"profiler_overhead", "Time that the profiler added to the CPU times of the recorded step.",
         "Measure a step without the profiler and pass it: --unprofiled-step TIME."},
    Word{"provenance",
         "Where the durations on the predicted critical path come from: measured, scaled, table, "
         "roofline or assumed, from most to least trusted.",
         "The more of it is measured, the better; each has an entry of its own, such as assumed."},
    Word{"range",
         "The interval in which the true step is expected: from the optimistic to the pessimistic "
         "end of what a what-if declares, its data and the errors of the recording.",
         "whatif TRACE --apply NAME --narrower names the measurement that narrows it most."},
    Word{"rank", "One process of a job, with its device or devices.",
         "Pass all ranks together (a folder, an archive), which separates waiting for other ranks "
         "from work."},
    Word{"recomputation",
         "Activations that are computed again in the backward pass instead of being kept.",
         "activation_checkpointing predicts its time and memory on a recording; foretrace plan "
         "tries it for a model."},
    Word{"replay", "The recorded steps, simulated from the graph without any recorded start time.",
         "Its difference from the measured step says how far the graph can be trusted; above 2 % "
         "it is low-confidence."},
    Word{"reserved",
         "Memory that the allocator of the framework took from the device, used or not.",
         "It decides whether a run fits; expandable segments and a cap change it."},
    Word{"roofline",
         "A duration computed from operations and bytes over the peak rates of the accelerator.",
         "It is optimistic for small kernels; a table of measured costs (foretrace calibrate) is "
         "better."},
    Word{"rough_formula", "The same as formula: a stated share, not a model of each kernel.",
         "Rankings leave it out; set its parameter to the share that you measured."},
    Word{"samples_per_s", "Samples of all GPUs per second: the batch of a step over its time.",
         "Compare runs of one batch, or look at equal work: foretrace plan puts it first."},
    Word{"scaled",
         "A recorded duration times a factor that follows from shapes or from two accelerators.",
         "Its error is that of the factor: foretrace explain WHATIF lists what it assumes."},
    Word{"scatter",
         "How far a recorded step usually lies from the median step (median absolute deviation).",
         "A smaller change is noise; longer recordings on an idle machine scatter less."},
    Word{"shared_device",
         "Work started late for no recorded reason: another program may use the GPU at the same "
         "time.",
         "Record on a GPU of your own; foretrace corun predicts two runs on one device."},
    Word{"span", "The time from the first recorded event to the last one, all steps together.",
         "A step is what to compare; the span contains the start and the end of the recording."},
    Word{"step",
         "One training or inference iteration, as the profiler marks it; the median of the "
         "recorded ones is reported.",
         "--step takes a number or all."},
    Word{"table", "A duration interpolated in a table of measured costs.",
         "It is as good as the table near your shapes: foretrace calibrate reports its error on "
         "rows that were left out."},
    Word{"tensors",
         "Lifetimes and sizes of tensors: recorded, or estimated from the shapes of operators.",
         "Record with profile_memory=True to measure them."},
    Word{"tp", "Tensor parallelism: ranks that divide the products of a layer.",
         "Keep its groups inside a node; foretrace plan compares the sizes."},
    Word{"truncated", "The file ends early: its last events and later steps are missing.",
         "Copy or export the trace again; what is left is simulated with low confidence."},
    Word{"unexplained",
         "Time in which work started late or a launch was blocked without a recorded cause.",
         "Above 5 % the answer is low-confidence; record on an idle machine, or without other "
         "programs on the GPU."},
    Word{"waiting_for_late_ranks",
         "Time in collectives before the last rank arrived: it ends when that rank is as fast as "
         "the others.",
         "remove_straggler predicts the step without it; foretrace inspect RANKS names the rank."},
    Word{
        "zero",
        "What data-parallel ranks divide (ZeRO): 1 optimizer states, 2 also gradients, 3 also "
        "parameters.",
        "It saves memory; 3 also collects parameters in each pass. foretrace plan compares them."}};

constexpr auto rows = [] {
  std::array<const Word*, words.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = &words[i];
  return all;
}();

}  // namespace

std::span<const Word* const> glossary() { return rows; }

}  // namespace foretrace::app
