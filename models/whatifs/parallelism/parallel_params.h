// What the user may say of a spread run.
#pragma once

#include "sim/core/params.h"

namespace foretrace {

inline constexpr ParamInfo cluster_param = {
    .name = "cluster",
    .type = ParamType::text,
    .default_text = "recording",
    .doc =
        "A name of configs/clusters or a .json file; recording: the usual machine of the "
        "recorded accelerator.",
    .config = "clusters"};
inline constexpr ParamInfo data_param = {.name = "data",
                                         .type = ParamType::integer,
                                         .unit = "1",
                                         .default_text = "1",
                                         .doc = "Ranks that each do the recorded batch.",
                                         .minimum = 1,
                                         .maximum = 1e6};
inline constexpr ParamInfo zero_param = {
    .name = "zero",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "0",
    .doc =
        "What data-parallel ranks divide: 1 optimizer states, 2 and gradients, 3 and parameters "
        "(FSDP, layer by layer); 0 nothing.",
    .minimum = 0,
    .maximum = 3};
inline constexpr ParamInfo layers_param = {.name = "layers",
                                           .type = ParamType::integer,
                                           .unit = "1",
                                           .default_text = "0",
                                           .doc =
                                               "Number of layers, where the trace does not contain "
                                               "them: parts of equal time; 0: from the trace.",
                                           .minimum = 0,
                                           .maximum = 1e5};
inline constexpr ParamInfo tensor_param = {
    .name = "tensor",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "1",
    .doc = "Ranks that divide the products of a layer, and the heads of attention.",
    .minimum = 1,
    .maximum = 4096};
inline constexpr ParamInfo pipeline_param = {
    .name = "pipeline",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "1",
    .doc = "Stages that the layers are cut into, as equal in time as they can be.",
    .minimum = 1,
    .maximum = 1024};
inline constexpr ParamInfo micro_batches_param = {
    .name = "micro_batches",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "0",
    .doc = "With pipeline: micro-batches per step, each the recorded batch; 0: four per stage.",
    .minimum = 0,
    .maximum = 65536};
inline constexpr ParamInfo schedule_param = {
    .name = "schedule",
    .type = ParamType::text,
    .default_text = "1f1b",
    .doc =
        "With pipeline: the order of its passes: gpipe, 1f1b, interleaved or breadth_first; a "
        "modelled job accepts every schedule."};
inline constexpr ParamInfo chunks_param = {
    .name = "chunks",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "0",
    .doc = "With pipeline: pieces of the model on each stage; 0: as few as the schedule needs.",
    .minimum = 0,
    .maximum = 1024};
inline constexpr ParamInfo shard_size_param = {
    .name = "shard_size",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "0",
    .doc =
        "With zero: ranks that share one copy, which other groups store again (HSDP); 0: all data "
        "ranks.",
    .minimum = 0,
    .maximum = 1e6};
inline constexpr ParamInfo sequence_param = {
    .name = "sequence",
    .type = ParamType::boolean,
    .default_text = "false",
    .doc =
        "With tensor: norms, dropout and residuals are divided by tokens, exchanges are gathered "
        "and scattered."};
inline constexpr ParamInfo recorded_param = {
    .name = "recorded",
    .type = ParamType::boolean,
    .default_text = "false",
    .doc =
        "Keep the recorded groups: collectives take the cluster's time, waiting for unrecorded "
        "ranks is removed."};
inline constexpr ParamInfo ranks_param = {
    .name = "ranks",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "0",
    .doc = "With recorded: ranks of a group whose size the trace does not contain; 0: its largest.",
    .minimum = 0,
    .maximum = 1e6};
inline constexpr ParamInfo bucket_param = {
    .name = "bucket",
    .type = ParamType::bytes,
    .unit = "MiB",
    .default_text = "25 MiB",
    .doc = "Size of a bucket: gradients are exchanged together once they reach it.",
    .minimum = 1,
    .maximum = 1e15};
inline constexpr ParamInfo bucket_view_param = {
    .name = "bucket_view",
    .type = ParamType::boolean,
    .default_text = "false",
    .doc = "Gradients live in the buckets, so that nothing is copied."};
inline constexpr ParamInfo parameters_param = {
    .name = "parameters",
    .unit = "1",
    .default_text = "0",
    .doc = "Trained parameters, where the trace has no shapes; 0: from the trace.",
    .minimum = 0,
    .maximum = 1e15};
inline constexpr ParamInfo gradient_bytes_param = {
    .name = "gradient_bytes",
    .unit = "B",
    .default_text = "0",
    .doc = "Bytes of one gradient element; 0: 2 where the recorded update is in 16 bit, else 4.",
    .minimum = 0,
    .maximum = 8};

}  // namespace foretrace
