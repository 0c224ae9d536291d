#include "models/hardware/catalogue/same_device.h"

#include <doctest/doctest.h>

#include "tests/configs.h"

using foretrace::Accelerator;
using foretrace::is_same_device;

TEST_CASE("same device: a copy is, whatever a catalogue knows of it; another figure is not") {
  const Accelerator device = *foretrace::test::find_accelerator("h100_sxm");
  Accelerator other = device;
  CHECK(is_same_device(device, other));
  other.fits.clear();
  other.memory = {};
  other.sources.clear();
  other.memory_bytes -= other.memory_bytes / 20;  // as a driver reports it
  CHECK(is_same_device(device, other));
  other.memory_bandwidth *= 1.01;
  CHECK_FALSE(is_same_device(device, other));
  other = device;
  other.memory_bytes *= 2;
  CHECK_FALSE(is_same_device(device, other));
  other = device;
  other.name = "mine";
  CHECK_FALSE(is_same_device(device, other));
}
