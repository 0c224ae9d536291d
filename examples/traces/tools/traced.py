"""What the programs beside this one share: a Kineto trace of a few steps, compressed."""
import gzip, os, shutil
import torch

KINDS = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]


def waits_too():
    """Records waits between streams, where the version of PyTorch can."""
    try:
        return dict(experimental_config=torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True))
    except Exception:
        return {}


def write_trace(prof, path):
    """Writes path + ".gz"; the size of the trace in bytes, not compressed."""
    prof.export_chrome_trace(path)
    size = os.path.getsize(path)
    with open(path, "rb") as f, gzip.open(path + ".gz", "wb", 9) as g:
        shutil.copyfileobj(f, g)
    os.remove(path)
    return size
