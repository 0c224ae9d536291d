#include "trace/annotate/collectives/collectives.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "tests/trace/rules/table_builder.h"

namespace foretrace::trace {
namespace {

struct Arguments {
  std::string_view dims;
  std::string_view types;
  std::string_view concrete;
  std::string_view text;
};

void describe(TableBuilder& b, EventId event, const Arguments& arguments) {
  EventTable& table = b.table();
  Descriptor row;
  row.dims = table.names.intern(arguments.dims);
  row.types = table.names.intern(arguments.types);
  row.concrete = table.names.intern(arguments.concrete);
  row.text = table.names.intern(arguments.text);
  table.descriptors.push_back(row);
  table.descriptor[index(event)] = make_id<DescriptorId>(table.descriptors.size() - 1);
}

/// A collective as PyTorch records one: record, annotation and launch on the host, one kernel.
struct Recorded {
  EventId record{};
  EventId annotation{};
  EventId kernel{};
};
Recorded add(TableBuilder& b, double at, std::string_view annotation, std::string_view kernel) {
  Recorded row;
  row.record = b.op(b.thread(1), "record_param_comms", at, 50);
  row.annotation = b.event(EventKind::user_annotation, annotation, b.thread(1), at + 5, 40);
  const EventId call = b.call(b.thread(1), "cudaLaunchKernel", at + 10, 5);
  row.kernel = b.work(call, b.stream(7), at + 20, 100, kernel);
  return row;
}

}  // namespace

TEST_CASE("collectives: the annotation says what a kernel is, not the kernel's name") {
  TableBuilder b;
  add(b, 0, "nccl:all_reduce", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)");
  b.work(b.call(b.thread(1), "cudaLaunchKernel", 300, 5), b.stream(7), 310, 9, "gemm");
  const RankCollectives found = extract_collectives(b.table());
  REQUIRE(found.list.size() == 1);
  CHECK(found.list[0].kind == CollectiveKind::all_reduce);
  CHECK(found.list[0].kernel_kind == CollectiveKind::send_receive);
  CHECK(found.list[0].evidence == KindEvidence::annotation);
  CHECK(found.list[0].launched);
}

TEST_CASE("collectives: number, group address and size hide in the inputs of record_param_comms") {
  TableBuilder b;
  const Recorded row = add(b, 0, "nccl:all_reduce", "ncclDevKernel_AllReduce_Sum_f16_RING_LL()");
  describe(b, row.record,
           {"[[[4,2048,4096]],[],[],[],[],[],[],[]]", R"(["TensorList","Scalar","Scalar"])",
            R"(["","337","93825114103440","0","","[]","[]","8"])", ""});
  describe(b, row.annotation, {"[[4,2048,4096]]", R"(["c10::Half"])", "", ""});
  // The end marker of the call has no tensor: it is no collective.
  const EventId marker = b.op(b.thread(1), "record_param_comms", 60, 5);
  describe(
      b, marker,
      {"[[],[],[]]", R"(["Scalar","Scalar","Scalar"])", R"(["337","0","0","","[]","[]","1"])", ""});
  const RankCollectives found = extract_collectives(b.table());
  REQUIRE(found.list.size() == 1);
  CHECK(found.list[0].sequence == 337);
  CHECK(found.list[0].in_bytes == 4LL * 2048 * 4096 * 2);
  REQUIRE(found.groups.size() == 1);
  CHECK(found.groups[0].evidence == GroupEvidence::pointer);
  CHECK(found.groups[0].name == "93825114103440");
  CHECK(found.groups[0].size == 8);
}

TEST_CASE(
    "collectives: named arguments of the kernel win; long rank lists follow from their stride") {
  TableBuilder b;
  const Recorded row = add(b, 0, "nccl:_all_gather_base", "ncclDevKernel_AllGather_RING_LL()");
  describe(b, row.kernel,
           {"", "", "",
            R"({"Collective name":"_allgather_base","In msg nelems":96,"Out msg nelems":384,)"
            R"("Group size":4,"dtype":"BFloat16","Process Group Name":"tp",)"
            R"("Process Group Ranks":"[0, 2, ...]","Seq":5})"});
  describe(b, row.record,
           {"", "", "",
            R"({"Collective name":"_allgather_base","Process Group Name":"tp","Group size":4,)"
            R"("Global rank start":0,)"
            R"("Global rank stride":2,"Process Group Ranks":"[0, 2, ...]"})"});
  const RankCollectives found = extract_collectives(b.table());
  REQUIRE(found.list.size() == 1);
  CHECK(found.list[0].evidence == KindEvidence::argument);
  CHECK(found.list[0].kind == CollectiveKind::all_gather);
  CHECK(found.list[0].sequence == 5);
  CHECK(found.list[0].out_bytes == 768);
  CHECK(payload_bytes(found.list[0], 4) == 768);
  REQUIRE(found.groups.size() == 1);
  CHECK(found.groups[0].evidence == GroupEvidence::name);
  CHECK(found.groups[0].ranks == std::vector<std::int32_t>{0, 2, 4, 6});
}

TEST_CASE("collectives: a group of one rank has an annotation and no kernel") {
  TableBuilder b;
  b.event(EventKind::user_annotation, "nccl:all_reduce", b.thread(1), 0, 40);
  CHECK(extract_collectives(b.table()).list.empty());
}

TEST_CASE("collectives: a kernel from before the window belongs to the only group of its stream") {
  TableBuilder b;
  const EventId orphan = b.event(EventKind::kernel, "ncclDevKernel_AllReduce()", b.stream(7), 0, 9);
  const Recorded row = add(b, 100, "nccl:all_reduce", "ncclDevKernel_AllReduce()");
  describe(b, row.kernel, {"", "", "", R"({"Process Group Name":"0","Group size":2})"});
  b.event(EventKind::kernel, "ncclDevKernel_AllReduce()", b.stream(9), 50, 9);
  const RankCollectives found = extract_collectives(b.table());
  REQUIRE(found.list.size() == 3);
  CHECK(found.list[0].event == orphan);
  CHECK_FALSE(found.list[0].launched);
  CHECK(found.list[0].group == found.list[2].group);
  CHECK(found.list[1].group != found.list[2].group);  // another stream, nothing known
  CHECK(found.groups[found.list[1].group].evidence == GroupEvidence::stream);
}

TEST_CASE("collectives: sends and receives name their peer") {
  TableBuilder b;
  add(b, 0, "nccl:send 0->3", "ncclDevKernel_SendRecv()");
  add(b, 200, "nccl:recv 0<-2", "ncclDevKernel_SendRecv()");
  const RankCollectives found = extract_collectives(b.table());
  REQUIRE(found.list.size() == 2);
  CHECK(found.list[0].kind == CollectiveKind::send);
  REQUIRE(found.list[0].messages.size() == 1);
  CHECK(found.list[0].messages[0].sends);
  CHECK(found.list[0].messages[0].peer == 3);
  CHECK(found.list[1].kind == CollectiveKind::receive);
  REQUIRE(found.list[1].messages.size() == 1);
  CHECK_FALSE(found.list[1].messages[0].sends);
  CHECK(found.list[1].messages[0].peer == 2);
}

TEST_CASE("collectives: a kernel names its source and target, or the operator its direction") {
  TableBuilder b;
  const EventId send = b.work(b.call(b.thread(1), "cudaLaunchKernel", 0, 5), b.stream(7), 9, 5,
                              "ncclDevKernel_SendRecv()");
  describe(b, send,
           {"", "", "",
            R"({"Collective name": "send", "Src Rank": 4, "Dst Rank": 5, "In msg nelems": 8, )"
            R"("dtype": "Float"})"});
  b.op(b.thread(1), "c10d::recv_", 98, 9);
  b.work(b.call(b.thread(1), "cudaLaunchKernel", 100, 5), b.stream(7), 109, 5,
         "ncclDevKernel_SendRecv()");
  const RankCollectives found = extract_collectives(b.table());
  REQUIRE(found.list.size() == 2);
  REQUIRE(found.list[0].messages.size() == 1);
  CHECK(found.list[0].messages[0].own == 4);
  CHECK(found.list[0].messages[0].peer == 5);
  CHECK(found.list[0].messages[0].bytes == 32);
  CHECK(found.list[1].kind == CollectiveKind::receive);
  REQUIRE(found.list[1].messages.size() == 1);
  CHECK(found.list[1].messages[0].peer == -1);
}

TEST_CASE("collectives: what was asked for since the last launch is done by one kernel") {
  TableBuilder b;
  const auto ask = [&](double at, const char* name) {
    describe(b, b.op(b.thread(1), "record_param_comms", at, 2), {"", "", "", name});
  };
  ask(0, R"({"Collective name": "send", "Dst Rank": 2, "Process Group Name": "pp"})");
  b.work(b.call(b.thread(1), "cudaLaunchKernel", 1, 1), b.stream(7), 9, 5,
         "ncclDevKernel_SendRecv()");
  ask(10, R"({"Collective name": "send", "Dst Rank": 2, "Process Group Name": "pp"})");
  ask(13, R"({"Collective name": "recv", "Src Rank": 0, "Process Group Name": "pp"})");
  b.work(b.call(b.thread(1), "cudaLaunchKernel", 20, 5), b.stream(7), 29, 5,
         "ncclDevKernel_SendRecv()");
  const RankCollectives found = extract_collectives(b.table());
  REQUIRE(found.list.size() == 2);
  CHECK(found.list[0].messages.size() == 1);
  CHECK(found.list[1].kind == CollectiveKind::send_receive);
  REQUIRE(found.list[1].messages.size() == 2);
  CHECK(found.list[1].messages[0].sends);
  CHECK(found.list[1].messages[0].peer == 2);
  CHECK_FALSE(found.list[1].messages[1].sends);
  CHECK(found.list[1].messages[1].peer == 0);
  CHECK(found.groups[found.list[1].group].name == "pp");
}

TEST_CASE("collectives: payload and bus factor follow the usual definitions") {
  RankCollective row;
  row.kind = CollectiveKind::all_gather;
  row.in_bytes = 10;
  CHECK(payload_bytes(row, 8) == 80);
  CHECK(payload_bytes(row, 0) == -1);
  row.kind = CollectiveKind::reduce_scatter;
  CHECK(payload_bytes(row, 8) == 10);
  CHECK(bus_factor(CollectiveKind::all_reduce, 8) == doctest::Approx(1.75));
  CHECK(bus_factor(CollectiveKind::all_to_all, 4) == doctest::Approx(0.75));
  CHECK(bus_factor(CollectiveKind::broadcast, 4) == doctest::Approx(1));
}

TEST_CASE("collectives: kinds are told from arguments, annotations and kernel names") {
  CHECK(collective_kind("_reduce_scatter_base") == CollectiveKind::reduce_scatter);
  CHECK(collective_kind("all_to_allv") == CollectiveKind::all_to_all);
  CHECK(collective_kind("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL") ==
        CollectiveKind::reduce_scatter);
  CHECK(collective_kind("all_reduce_barrier") == CollectiveKind::barrier);
  CHECK(collective_kind("ncclDevKernel_Generic") == CollectiveKind::none);
  CHECK(collective_kind("wait") == CollectiveKind::none);
}

TEST_CASE("collectives: kernels that initiate communication themselves are some too") {
  struct Named {
    const char* kernel;
    CollectiveKind kind;
  };
  TableBuilder b;
  double at = 0;
  const auto add = [&](const char* name) {
    b.work(b.call(b.thread(1), "cudaLaunchKernel", at, 5), b.stream(20), at + 7, 9, name);
    at += 20;
  };
  const Named named[] = {
      {"void deep_ep::intranode::notify_dispatch<8>(int const*, int*)", CollectiveKind::barrier},
      {"void deep_ep::intranode::dispatch<8, 768, 8192>(int4*)", CollectiveKind::all_to_all},
      {"void deep_ep::internode_ll::combine<true, 7168, 9, 9>(void*)", CollectiveKind::all_to_all},
      {"void pplx::AllToAllInterNodeDispatchKernel<8>(unsigned*)", CollectiveKind::all_to_all},
      {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
       CollectiveKind::all_reduce},
      {"void vllm::cross_device_reduce_1stage<__half, 8>(vllm::RankData*)",
       CollectiveKind::all_reduce},
      {"void mscclpp::collective::allreduceAllpairs<float>(float*)", CollectiveKind::all_reduce},
      {"void nvshmemi_alltoall_on_stream_kernel<int>(int)", CollectiveKind::all_to_all}};
  for (const Named& one : named) {
    add(one.kernel);
  }
  // These send nothing.
  for (const char* other :
       {"void deep_ep::layout::get_dispatch_layout<256, 8>(long const*)",
        "triton_red_fused_add_symm_mem_one_shot_all_reduce_0",
        "void cutlass::Kernel<dispatch_policy>()", "void combine_heads(float*)"}) {
    add(other);
  }
  const RankCollectives found = extract_collectives(b.table());
  REQUIRE(found.list.size() == std::size(named));
  for (std::size_t i = 0; i < std::size(named); ++i) {
    CAPTURE(named[i].kernel);
    CHECK(found.list[i].kind == named[i].kind);
  }
}

}  // namespace foretrace::trace
