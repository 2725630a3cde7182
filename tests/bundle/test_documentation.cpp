#include <doctest/doctest.h>

#include <string>

#include "bundle/documentation.hpp"

using namespace triage;

TEST_CASE("documentation: a runbook that quotes faults is written for people") {
  CHECK(bundle::reads_as_documentation(
      "# On-call runbook\n\nWhat to look for when a worker dies.\n\n## Falling off the bus\n\n"
      "The kernel log shows:\n\n```\nNVRM: Xid (PCI:0000:a1:00): 79, GPU has fallen off the "
      "bus.\n```\n\nDrain the node and reboot it.\n\n| sign | meaning |\n|---|---|\n"
      "| `OOMKilled` | raise limits.memory |\n"));
  CHECK(bundle::reads_as_documentation(
      "GPU notes\n=========\n\n1. Look for `CUDA error: device-side assert triggered`.\n"
      "2. Look for OOMKilled in the pod.\n3. Ask the owner of the model what changed last.\n"));
}

TEST_CASE("documentation: the body of an issue with its log stays evidence") {
  std::string text = "# Bug: worker dies\n\nThe server stops after an hour.\n\n## Log\n\n```\n";
  for (int i = 0; i < 12; ++i) text += "  File \"/srv/engine.py\", line 10, in step\n";
  text += "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n```\n";
  CHECK_FALSE(bundle::reads_as_documentation(text));
}

TEST_CASE("documentation: logs, scrapes and scripts' output with headings are not documentation") {
  for (const char* text :
       {"# dmesg\n[ 12.100000] NVRM: loading NVIDIA UNIX x86_64 Kernel Module\n"
        "[ 80.200000] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n",
        "# HELP vllm:num_requests_running Number of requests.\n"
        "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 4.0\n",
        "## node-a\nINFO 03-02 09:00:12 [loggers.py:127] Engine 000: Running: 6 reqs\n"
        "ERROR 03-02 09:00:13 [core.py:710] EngineCore encountered a fatal error.\n"
        "- retrying\n- retrying\n",
        "ssh: Could not resolve hostname worker-1: Name or service not known\n"
        "--------------------------------------------------------------------------\n"
        "ORTE was unable to reliably start one or more daemons.\n"
        "This usually is caused by:\n\n"
        "* not finding the required libraries and/or binaries on\n"
        "  one or more nodes. Please check your PATH settings.\n\n"
        "* lack of authority to execute on one or more specified nodes.\n"
        "  Please verify your allocation and authorities.\n"
        "--------------------------------------------------------------------------\n",
        "Loading the model now.\nThe weights are read from disk:\nServing on port 9000.\n", ""})
    CHECK_FALSE_MESSAGE(bundle::reads_as_documentation(text), text);
}
