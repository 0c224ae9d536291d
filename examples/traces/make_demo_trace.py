#!/usr/bin/env python3
"""Writes a small training trace in the Kineto format. It is generated, not recorded.

A residual network of nine convolutions (batch 64, 3x64x64 images, fp32) is trained for six steps
on one imagined A100. Host threads and the device are played by the small clock below: a stream is
first in, first out; a kernel starts a fixed latency after its launch call returned; a pageable copy
and a `.item()` block the host. Kernel times come from a plain roofline with 5 % of deterministic
noise. Nothing in the file is a measurement: use it to try the program, never to judge a device.

With --memory the same network is recorded with its device memory, for three steps: every tensor that
comes and goes is an event beside the others, as with profile_memory=True.

Usage: make_demo_trace.py [--memory] [OUTPUT.json.gz]     (Python 3 standard library only)
"""

import gzip
import json
import random
import sys

STEPS = 6
MEMORY_STEPS = 3
BATCH = 64
PID, MAIN, AUTOGRAD, STREAM = 4242, 4242, 4271, 7
LAUNCH_NS = 5_200        # own time of a launch call
LATENCY_NS = 2_100       # end of the call to start of the kernel on an idle stream
GAP_NS = 1_200           # between two kernels of a busy stream
SYNC_OWN_NS = 2_400      # a synchronization that finds nothing to wait for
SYNC_POST_NS = 5_000     # end of the awaited work to return of the call
STAGING_NS = 190_000     # pageable upload on an idle stream: copy into the staging buffer
FP32_FLOPS = 13.0e12     # reached by an fp32 convolution (peak 19.5e12)
BANDWIDTH = 1.25e12      # reached by an elementwise kernel (peak 1.56e12)
PCIE_BANDWIDTH = 11.0e9  # pageable host memory to device
LOADER_NS = 14_500_000   # decoding and collating one batch in the main process
BASE_NS = 1_735_689_600_000_000_000

CONV_FORWARD = ("sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nhwc_tilesize128x128x8"
                "_stage3_warpsize2x2x1_g1_ffma_t1r3s3_kernel_cudnn")
CONV_DATA = ("sm80_xmma_dgrad_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nhwc_tilesize128x64x8"
             "_stage3_warpsize2x2x1_g1_ffma_t1r3s3_kernel_cudnn")
CONV_WEIGHT = ("sm80_xmma_wgrad_implicit_gemm_indexed_f32f32_f32f32_f32_nhwckrsc_nhwc"
               "_tilesize128x64x8_stage3_warpsize2x2x1_g1_ffma_kernel_cudnn")
GEMM = "ampere_sgemm_64x32_sliced1x4_tn"
NORM_FORWARD = "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>"
NORM_BACKWARD = "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>"


def elementwise(functor):
    return ("void at::native::vectorized_elementwise_kernel<4, at::native::%s, "
            "at::detail::Array<char*, 3> >(int, at::native::%s, at::detail::Array<char*, 3>)"
            % (functor, functor))


class Block:
    """A tensor on the device; `users` are operators that keep it for their backward."""

    def __init__(self, address, size):
        self.address, self.size, self.users = address, size, 0


class Memory:
    """Blocks of the device; addresses are never used twice. Off, it only counts users."""

    def __init__(self, clock, is_on):
        self.clock, self.is_on = clock, is_on
        self.address = 0x7F00_0000_0000
        self.total = self.peak = 0

    def allocate(self, size, users=0, before=False):
        """`before`: it was there when the recording began."""
        block = Block(self.address, (size + 511) // 512 * 512)
        block.users = users
        self.address += block.size
        self.total += block.size
        self.peak = max(self.peak, self.total)
        if not before:
            self.instant(block, block.size)
        return block

    def free(self, block):
        self.total -= block.size
        self.instant(block, -block.size)

    def release(self, block):
        """One user less; the last one frees it."""
        block.users -= 1
        if block.users == 0:
            self.free(block)

    def instant(self, block, size):
        if self.is_on:
            self.clock.events.append(
                {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": PID,
                 "tid": self.clock.thread, "start": self.clock.now,
                 "args": {"Device Type": 1, "Device Id": 0, "Addr": block.address, "Bytes": size,
                          "Total Allocated": self.total, "Total Reserved": 0}})


class Clock:
    """Host threads and one stream; every method appends the events that a profiler would see."""

    def __init__(self, records_memory=False):
        self.memory = Memory(self, records_memory)
        self.events = []
        self.now = 0            # host time: one thread is active at a time
        self.thread = MAIN
        self.tail = 0           # end of the last operation of the stream
        self.correlation = 100
        self.external = 1
        self.sequence = 0
        self.flow = 0
        self.noise = random.Random(20250101)

    def vary(self, ns, share=0.05):
        return max(1, round(ns * (1 + share * (2 * self.noise.random() - 1))))

    def work(self, ns):
        self.now += self.vary(ns)

    def emit(self, cat, name, start, end, args, pid=PID, tid=None):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid,
                            "tid": self.thread if tid is None else tid,
                            "start": start, "duration": end - start, "args": args})

    def runtime(self, name, start, correlation=None):
        if correlation is None:
            self.correlation += 1
            correlation = self.correlation
        self.emit("cuda_runtime", name, start, self.now,
                  {"External id": self.external, "correlation": correlation})

    def device(self, cat, name, start, duration, args):
        args = dict({"device": 0, "context": 1, "stream": STREAM,
                     "correlation": self.correlation}, **args)
        self.emit(cat, name, start, start + duration, args, pid=0, tid=STREAM)
        self.tail = start + duration

    def launch(self, name, duration, blocks=1024):
        self.correlation += 1
        start = self.now
        self.now += self.vary(LAUNCH_NS)
        self.runtime("cudaLaunchKernel", start, self.correlation)
        self.device("kernel", name, max(self.now + self.vary(LATENCY_NS), self.tail + GAP_NS),
                    self.vary(duration),
                    {"grid": [blocks, 1, 1], "block": [256, 1, 1], "registers per thread": 64,
                     "shared memory": 0})

    def fill_zero(self, size):
        self.correlation += 1
        start = self.now
        self.now += self.vary(LAUNCH_NS)
        self.runtime("cudaMemsetAsync", start, self.correlation)
        self.device("gpu_memset", "Memset (Device)",
                    max(self.now + self.vary(LATENCY_NS), self.tail + GAP_NS), 1_500,
                    {"bytes": size})

    def synchronize(self):
        start = self.now
        if self.tail > start:
            self.now = max(self.now + SYNC_OWN_NS, self.tail + SYNC_POST_NS)
        else:
            self.now += self.vary(SYNC_OWN_NS)
        self.runtime("cudaStreamSynchronize", start)

    def upload(self, size):
        """cudaMemcpyAsync of more than 64 KiB of pageable memory: blocks; then a synchronization."""
        self.correlation += 1
        start = self.now
        begin = max(start + self.vary(STAGING_NS), self.tail + GAP_NS)
        duration = self.vary(round(size / PCIE_BANDWIDTH * 1e9))
        self.device("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", begin, duration,
                    {"bytes": size, "memory bandwidth (GB/s)": round(size / duration, 6)})
        self.now = self.tail - 60_000
        self.runtime("cudaMemcpyAsync", start, self.correlation)
        self.work(1_500)
        self.synchronize()

    def download(self, size):
        """cudaMemcpyAsync to pageable memory: returns when the bytes have arrived."""
        self.correlation += 1
        start = self.now
        begin = max(start + 9_000, self.tail + GAP_NS)
        self.device("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", begin, 1_800,
                    {"bytes": size, "memory bandwidth (GB/s)": round(size / 1_800, 6)})
        self.now = self.tail + self.vary(8_000)
        self.runtime("cudaMemcpyAsync", start, self.correlation)
        self.work(1_500)
        self.synchronize()

    # -- ranges ----------------------------------------------------------------------------------

    def range(self, cat, name, body, args=None, before=2_000, after=1_500):
        self.external += 1
        arguments = {"External id": self.external} if cat != "python_function" else {}
        arguments.update(args or {})
        start = self.now
        if before:
            self.work(before)
        body()
        if after:
            self.work(after)
        self.emit(cat, name, start, self.now, arguments)

    def op(self, name, body, dims=None, sequence=None, before=5_000, values=None):
        """An operator; `values` are its recorded constants, one text per input."""
        args = shapes(dims, values) if dims is not None else {}
        if sequence is not None:
            args["Sequence number"] = sequence
            args["Fwd thread id"] = 1 if self.thread == AUTOGRAD else 0
        self.range("cpu_op", name, body, args, before=before)

    def arrow(self, identifier, head):
        self.events.append({"ph": "f" if head else "s", "cat": "fwdbwd", "name": "fwdbwd",
                            "id": identifier, "pid": PID, "tid": self.thread, "start": self.now})


def shapes(dims, values=None):
    """What record_shapes=True records of an operator."""
    return {"Input Dims": dims,
            "Input type": ["float" if d else "ScalarList" for d in dims],
            "Concrete Inputs": values or [""] * len(dims)}


def module(clock, name, body):
    clock.range("python_function", "nn.Module: " + name, body, before=6_000, after=3_000)


class Layer:
    """One differentiable operator: what it runs forward, what backward, and its parameters."""

    values = None        # constants among the inputs of the operator
    gradient = None      # shapes of what comes back through the node
    output_bytes = 0     # of what it writes; 0: it works in place
    scratch_bytes = 0    # taken and given back within one operator
    keeps_output = False  # for the backward, else its input
    kept = block = None  # what it keeps; what the next one reads

    def __init__(self, operator, node, dims, parameters, modules):
        self.operator, self.node = operator, node
        self.dims, self.parameters, self.modules = dims, parameters, modules
        self.sequence = self.flow = 0

    def forward(self, clock, source):
        """Reads the block `source`; returns the one that it writes."""
        clock.sequence += 1
        clock.flow += 1
        self.sequence, self.flow = clock.sequence, clock.flow

        def run():
            clock.arrow(self.flow, head=False)
            self.block = (clock.memory.allocate(self.output_bytes) if self.output_bytes
                          else source)
            self.kept = self.block if self.keeps_output else source
            self.kept.users += 1
            self.launch_forward(clock)

        def call():
            clock.op(self.operator, run, self.dims, self.sequence, before=9_000,
                     values=self.values)

        if self.modules:
            module(clock, self.modules, call)
        else:
            call()
        return self.block

    def backward(self, clock, incoming):
        """Reads the gradient `incoming` of its output; returns that of its input."""
        memory = clock.memory
        outgoing = []

        def node():
            def run():
                clock.arrow(self.flow, head=True)
                outgoing.append(memory.allocate(self.kept.size))
                self.gradients = [memory.allocate(4 * size) for size in self.parameters]
                scratch = memory.allocate(self.scratch_bytes) if self.scratch_bytes else None
                self.launch_backward(clock)
                if scratch:
                    memory.free(scratch)
            clock.op(self.node, run, self.gradient or self.dims[:1], self.sequence, before=7_000)
        clock.op("autograd::engine::evaluate_function: " + self.node, node, None, self.sequence)
        for size in self.parameters:
            clock.op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
                     lambda: clock.op("torch::autograd::AccumulateGrad",
                                      lambda: clock.work(1_000), [[size]]))
        memory.free(incoming)
        memory.release(self.kept)
        return outgoing[0]


class Convolution(Layer):
    """3x3, stride 1, padding 1, no bias."""

    def __init__(self, index, channels_in, channels_out, size):
        image, weight = [BATCH, channels_in, size, size], [channels_out, channels_in, 3, 3]
        super().__init__("aten::conv2d", "ConvolutionBackward0", [image, weight] + [[]] * 5,
                         [channels_out * channels_in * 9], "Conv2d_%d" % index)
        self.values = ["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "1"]
        self.gradient = [[BATCH, channels_out, size, size]]
        self.first = index == 0
        self.output_bytes = 4 * BATCH * channels_out * size * size
        self.scratch_bytes = 16 << 20
        self.ns = 2e9 * BATCH * size * size * channels_out * channels_in * 9 / FP32_FLOPS
        self.blocks = max(1, BATCH * size * size // 128 * max(1, channels_out // 128))

    def launch_forward(self, clock):
        clock.op("aten::cudnn_convolution",
                 lambda: clock.launch(CONV_FORWARD, self.ns, self.blocks),
                 self.dims[:2] + [[]] * 7, before=12_000,
                 values=["", "", "[1, 1]", "[1, 1]", "[1, 1]", "1", "False", "False", "False"])

    def launch_backward(self, clock):
        def run():
            if not self.first:
                clock.launch(CONV_DATA, 1.05 * self.ns, self.blocks)
                clock.work(8_000)
            clock.launch(CONV_WEIGHT, 1.15 * self.ns, self.blocks)
        clock.op("aten::convolution_backward", run, self.gradient + self.dims[:2] + [[]] * 8,
                 before=14_000,
                 values=["", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1",
                         "[%s, True, False]" % (not self.first)])


class Streaming(Layer):
    """Normalization, activation, sum: bound by memory; `passes` over the tensor, both ways."""

    def __init__(self, operator, node, channels, size, kernels, passes, parameters, modules):
        super().__init__(operator, node, [[BATCH, channels, size, size]], parameters, modules)
        self.kernels = kernels
        self.keeps_output = operator == "aten::relu_"
        if operator == "aten::batch_norm":
            self.output_bytes = 4 * BATCH * channels * size * size
        self.ns = [p * 4e9 * BATCH * channels * size * size / BANDWIDTH for p in passes]
        self.blocks = max(1, BATCH * channels * size * size // 1024)

    def launch_forward(self, clock):
        clock.launch(self.kernels[0], self.ns[0], self.blocks)

    def launch_backward(self, clock):
        def run():
            clock.launch(self.kernels[1], self.ns[1], self.blocks)

        whole, channel = self.dims[0], [self.dims[0][1]]
        if self.operator == "aten::batch_norm":
            clock.range("cpu_op", "aten::cudnn_batch_norm_backward", run,
                        shapes([whole, whole] + [channel] * 5 + [[], []]), 0, 0)
        elif self.operator == "aten::relu_":
            clock.range("cpu_op", "aten::threshold_backward", run, shapes([whole, whole, []]), 0,
                        0)
        else:
            run()


class Linear(Layer):
    def __init__(self, channels, classes):
        super().__init__("aten::linear", "AddmmBackward0",
                         [[BATCH, channels], [classes, channels], [classes]],
                         [channels * classes, classes], "Linear_0")
        self.channels, self.classes = channels, classes
        self.output_bytes = 4 * BATCH * classes
        self.gradient = [[BATCH, classes]]

    def launch_forward(self, clock):
        clock.op("aten::addmm", lambda: clock.launch(GEMM, 9_000, 64),
                 [[self.classes], [BATCH, self.channels], [self.channels, self.classes], [], []],
                 values=["", "", "", "1", "1"])

    def launch_backward(self, clock):
        for dims in ([[BATCH, self.classes], [self.classes, self.channels]],
                     [[self.classes, BATCH], [BATCH, self.channels]]):
            clock.op("aten::mm", lambda: clock.launch(GEMM, 9_500, 64), dims)
        clock.op("aten::sum", lambda: clock.launch(
            "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float>>", 3_000, 32),
            [[BATCH, self.classes], [], [], []], values=["", "[0]", "True", ""])


class Loss(Layer):
    def __init__(self, classes):
        super().__init__("aten::cross_entropy_loss", "NllLossBackward0",
                         [[BATCH, classes], [BATCH]], [], "CrossEntropyLoss_0")
        self.output_bytes = 4

    def launch_forward(self, clock):
        clock.op("aten::log_softmax", lambda: clock.launch(
            "void (anonymous namespace)::softmax_warp_forward<float, float, float, 7, true>",
            2_600, 16))
        clock.op("aten::nll_loss_nd", lambda: clock.launch(
            "void at::native::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>",
            3_400, 1))

    def launch_backward(self, clock):
        clock.launch("void at::native::nll_loss_backward_reduce_cuda_kernel_2d<float, long>",
                     2_200, 1)
        clock.work(9_000)
        clock.launch(
            "void (anonymous namespace)::softmax_warp_backward<float, float, float, 7, true>",
            2_500, 16)


def network():
    """Stem and four residual blocks; (channels in, channels out, image size) per block."""
    layers, count = [], {"conv": 0, "norm": 0, "relu": 0}

    def convolution(channels_in, channels_out, size):
        layers.append(Convolution(count["conv"], channels_in, channels_out, size))
        count["conv"] += 1

    def norm(channels, size):
        layers.append(Streaming("aten::batch_norm", "CudnnBatchNormBackward0", channels, size,
                                [NORM_FORWARD, NORM_BACKWARD], [3, 5], [channels, channels],
                                "BatchNorm2d_%d" % count["norm"]))
        count["norm"] += 1

    def relu(channels, size):
        layers.append(Streaming("aten::relu_", "ReluBackward0", channels, size,
                                [elementwise("launch_clamp_scalar"),
                                 elementwise("threshold_kernel_impl<float>")], [2, 3], [],
                                "ReLU_%d" % count["relu"]))
        count["relu"] += 1

    convolution(3, 64, 64)
    norm(64, 64)
    relu(64, 64)
    for channels_in, channels_out, size in [(64, 64, 64), (64, 128, 32), (128, 256, 16),
                                            (256, 512, 8)]:
        convolution(channels_in, channels_out, size)
        norm(channels_out, size)
        relu(channels_out, size)
        convolution(channels_out, channels_out, size)
        norm(channels_out, size)
        layers.append(Streaming("aten::add_", "AddBackward0", channels_out, size,
                                [elementwise("CUDAFunctor_add<float>"),
                                 elementwise("CUDAFunctor_add<float>")], [3, 2], [], ""))
        relu(channels_out, size)
    layers.append(Linear(512, 200))
    layers.append(Loss(200))
    return layers


def optimizer(clock, layers):
    """torch.optim.Adam(foreach=False): seven small kernels per parameter."""
    def step():
        for layer in layers:
            for size in layer.parameters:
                for operator, functor in [("aten::lerp_", "lerp_scalar_kernel<float>"),
                                          ("aten::mul_", "BUnaryFunctor<float, MulFunctor>"),
                                          ("aten::addcmul_", "addcmul_cuda_kernel<float>"),
                                          ("aten::sqrt", "sqrt_kernel_cuda<float>"),
                                          ("aten::div", "BUnaryFunctor<float, DivFunctor>"),
                                          ("aten::add_", "CUDAFunctorOnSelf_add<float>"),
                                          ("aten::addcdiv_", "addcdiv_cuda_kernel<float>")]:
                    if operator == "aten::sqrt":
                        root = clock.memory.allocate(4 * size)
                    duration = 1_400 + 12e9 * size / BANDWIDTH
                    clock.op(operator,
                             lambda f=functor, d=duration, s=size: clock.launch(
                                 elementwise(f), d, max(1, s // 1024)), [[size]], before=4_000)
                    clock.work(2_500)
                clock.memory.free(root)
    clock.range("user_annotation", "Optimizer.step#Adam.step", step, before=20_000)


def zero_grad(clock, layers):
    def zero():
        for layer in layers:
            for gradient in layer.gradients:
                clock.work(900)
                clock.memory.free(gradient)
    clock.range("user_annotation", "Optimizer.zero_grad#Adam.zero_grad", zero)


def train_step(clock, layers):
    memory = clock.memory
    clock.range("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                lambda: clock.work(LOADER_NS))
    for dims, size in [([BATCH, 3, 64, 64], BATCH * 3 * 64 * 64 * 4)]:
        image = memory.allocate(size, users=1)
        clock.op("aten::to", lambda: clock.op("aten::copy_", lambda: clock.upload(size),
                                              [dims, dims]), [dims])
    clock.work(30_000)
    zero_grad(clock, layers)
    flow = [image]
    module(clock, "ResNet_0", lambda: [flow.append(layer.forward(clock, flow[-1]))
                                       for layer in layers[:-1]])
    loss = layers[-1].forward(clock, flow[-1])
    clock.work(40_000)
    clock.op("aten::ones_like", lambda: clock.fill_zero(4), [[]])
    clock.work(60_000)                    # loss.backward() wakes the autograd thread
    clock.thread = AUTOGRAD
    clock.now += 70_000
    gradient = memory.allocate(4)
    for layer in reversed(layers):
        gradient = layer.backward(clock, gradient)
        clock.work(3_000)
    memory.free(gradient)
    clock.thread = MAIN
    clock.now += 120_000
    optimizer(clock, layers)
    clock.work(15_000)
    clock.op("aten::item", lambda: clock.op("aten::_local_scalar_dense",
                                            lambda: clock.download(4), [[]]), [[]])
    memory.free(loss)
    memory.release(image)
    clock.work(25_000)                    # the loop's own bookkeeping


def microseconds(ns):
    return "%d.%03d" % divmod(ns, 1000)


def text_of(event):
    """One event as JSON; times are written as decimal text, so no digit is lost."""
    head = {k: event[k] for k in ("ph", "cat", "name", "id", "pid", "tid") if k in event}
    text = json.dumps(head)[:-1] + ', "ts": ' + microseconds(event["start"])
    if "duration" in event:
        text += ', "dur": ' + microseconds(event["duration"])
    if event["ph"] == "f":
        text += ', "bp": "e"'
    if event["ph"] == "i":
        text += ', "s": "t"'
    if event.get("args"):
        text += ', "args": ' + json.dumps(event["args"])
    return text + "}"


def metadata():
    def entry(name, pid, tid, value):
        return json.dumps({"name": name, "ph": "M", "ts": 0, "pid": pid, "tid": tid,
                           "args": value})
    yield entry("process_name", PID, 0, {"name": "python (generated, not recorded)"})
    yield entry("process_labels", PID, 0, {"labels": "CPU"})
    yield entry("process_name", 0, 0, {"name": "python (generated, not recorded)"})
    yield entry("process_labels", 0, 0, {"labels": "GPU 0"})
    yield entry("thread_name", PID, MAIN, {"name": "thread %d (python)" % MAIN})
    yield entry("thread_name", PID, AUTOGRAD, {"name": "thread %d (pt_autograd_0)" % AUTOGRAD})
    yield entry("thread_name", 0, STREAM, {"name": "stream %d" % STREAM})


def before_the_recording(memory, layers):
    """Weights, two states of Adam, and the gradients that the step before left."""
    for layer in layers:
        for size in layer.parameters:
            for _ in range(3):
                memory.allocate(4 * size, before=True)
        layer.gradients = [memory.allocate(4 * size, before=True) for size in layer.parameters]


def make(with_memory=False):
    clock, layers = Clock(with_memory), network()
    before_the_recording(clock.memory, layers)
    clock.now = 50_000
    for number in range(MEMORY_STEPS if with_memory else STEPS):
        clock.range("user_annotation", "ProfilerStep#%d" % (number + 3),
                    lambda: train_step(clock, layers), before=10_000, after=5_000)
        clock.work(8_000)
    start = clock.now
    clock.now += 9_000
    clock.runtime("cudaDeviceSynchronize", start)
    device = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_031_714_816,
              "computeMajor": 8, "computeMinor": 0, "maxThreadsPerBlock": 1024,
              "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32,
              "sharedMemPerBlock": 49152, "numSms": 108, "regsPerMultiprocessor": 65536,
              "sharedMemPerMultiprocessor": 167936, "sharedMemPerBlockOptin": 166912,
              "sharedMemPerMultiprocessorOptin": 167936}
    head = {"schemaVersion": 1, "generated": "by make_demo_trace.py; nothing here is a measurement",
            "deviceProperties": [device], "record_shapes": 1, "with_stack": 0,
            "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE_NS,
            "traceName": "demo_generated_cnn"}
    # What an allocator holds is a little more than what was ever live, in pieces of 2 MiB.
    reserved = (clock.memory.peak * 21 // 20 + (2 << 20) - 1) >> 21 << 21
    for event in clock.events:
        if event["ph"] == "i":
            event["args"]["Total Reserved"] = reserved
    if with_memory:
        head["profile_memory"] = 1
        head["traceName"] = "demo_generated_cnn_memory"
    lines = list(metadata()) + [text_of(e) for e in clock.events]
    return json.dumps(head)[:-1] + ', "traceEvents": [\n' + ",\n".join(lines) + "\n]}\n"


def main():
    arguments = sys.argv[1:]
    with_memory = "--memory" in arguments
    paths = [argument for argument in arguments if argument != "--memory"]
    path = paths[0] if paths else "demo_generated_cnn%s.json.gz" % ("_memory" * with_memory)
    text = make(with_memory).encode()
    with open(path, "wb") as file:
        file.write(gzip.compress(text, 9, mtime=0) if path.endswith(".gz") else text)


if __name__ == "__main__":
    main()
