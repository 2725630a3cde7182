#include <string>

#include "format_support.hpp"

using namespace triage;
using namespace triage::analysis::formats;
using evidence::Fact;
using test::facts_of;
using test::line_of;

namespace {

constexpr auto k_kind = evidence::Kind::gpu_state;

// A Hopper GPU as driver 550 prints it, shortened; then as 535, 580 and 470 differ.
const std::string k_query = R"(
==============NVSMI LOG==============

Timestamp                                 : Tue May 12 10:15:02 2026
Driver Version                            : 550.90.07
CUDA Version                              : 12.4

Attached GPUs                             : 2
GPU 00000000:18:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Persistence Mode                      : Enabled
    MIG Mode
        Current                           : Disabled
        Pending                           : Enabled
    Driver Model
        Current                           : N/A
        Pending                           : N/A
    Serial Number                         : 1651523174670
    GPU UUID                              : GPU-d9b95830-7cd8-ac41-4646-a329d2f4da0d
    Minor Number                          : 0
    GPU Reset Status
        Reset Required                    : Yes
        Drain and Reset Recommended       : No
    PCI
        Bus Id                            : 00000000:18:00.0
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 4
                Device Max                : 5
            Link Width
                Max                       : 16x
                Current                   : 8x
        Replays Since Reset               : 12
    Fan Speed                             : N/A
    Performance State                     : P0
    Clocks Event Reasons
        Idle                              : Not Active
        SW Power Cap                      : Active
        HW Slowdown                       : Active
            HW Thermal Slowdown           : Active
            HW Power Brake Slowdown       : Not Active
        SW Thermal Slowdown               : Not Active
    FB Memory Usage
        Total                             : 81559 MiB
        Reserved                          : 551 MiB
        Used                              : 40779 MiB
        Free                              : 40228 MiB
    BAR1 Memory Usage
        Total                             : 131072 MiB
        Used                              : 1 MiB
    Compute Mode                          : Exclusive_Process
    Utilization
        Gpu                               : 97 %
        Memory                            : 41 %
    ECC Mode
        Current                           : Enabled
        Pending                           : Enabled
    ECC Errors
        Volatile
            SRAM Correctable              : 0
            SRAM Uncorrectable Parity     : 0
            SRAM Uncorrectable SEC-DED    : 2
            DRAM Correctable              : 7
            DRAM Uncorrectable            : 1
        Aggregate
            SRAM Correctable              : 0
            SRAM Uncorrectable Parity     : 1
            SRAM Uncorrectable SEC-DED    : 2
            DRAM Uncorrectable            : 4
            SRAM Threshold Exceeded       : Yes
    Retired Pages
        Single Bit ECC                    : N/A
        Pending Page Blacklist            : N/A
    Remapped Rows
        Correctable Error                 : 0
        Uncorrectable Error               : 1
        Pending                           : Yes
        Remapping Failure Occurred        : No
        Bank Remap Availability Histogram
            Max                           : 2559 bank(s)
            None                          : 1 bank(s)
    Temperature
        GPU Current Temp                  : 88 C
        GPU Slowdown Temp                 : 87 C
        Memory Current Temp               : 92 C
    GPU Power Readings
        Power Draw                        : 412.35 W
        Current Power Limit               : 700.00 W
    Module Power Readings
        Power Draw                        : 1.00 W
    Clocks
        SM                                : 1980 MHz
        Memory                            : 2619 MHz
    Applications Clocks
        Memory                            : 1 MHz
    Fabric
        State                             : In Progress
        Status                            : N/A
    Processes
        GPU instance ID                   : N/A
        Compute instance ID               : N/A
        Process ID                        : 4120
            Type                          : C
            Name                          : /usr/bin/python3
            Used GPU Memory               : 40000 MiB
        Process ID                        : 4121
            Type                          : C
            Name                          : ray::Worker
            Used GPU Memory               : 500 MiB

GPU 00000000:2A:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    GPU UUID                              : GPU-2ab95830-7cd8-ac41-4646-a329d2f4da0d
    ECC Mode
        Current                           : Unknown Error
        Pending                           : Unknown Error
    Temperature
        GPU Current Temp                  : Unknown Error
    Processes                             : None
)";

}  // namespace

TEST_CASE("smi -q: every value is known by its section and carries its line") {
  const auto facts = facts_of(parse_smi_query, k_kind, k_query);
  REQUIRE(facts.size() == 3);
  const Fact& header = facts[0];
  CHECK(header.get("gpus") == "2");
  CHECK(header.get("driver") == "550.90.07");
  CHECK(header.get("cuda") == "12.4");
  REQUIRE(header.stamp);
  CHECK(evidence::to_rfc3339({header.stamp->ns, header.stamp->resolution_ns}) ==
        "2026-05-12T10:15:02Z");
  const Fact& gpu = facts[1];
  CHECK(gpu.get("tool") == "nvidia-smi-q");
  CHECK(gpu.get("index") == "0");
  CHECK(gpu.get("pci") == "0000:18:00.0");
  CHECK(gpu.place.pci == "0000:18:00.0");
  CHECK(gpu.place.gpu_uuid == "GPU-d9b95830-7cd8-ac41-4646-a329d2f4da0d");
  CHECK(gpu.get("name") == "NVIDIA H100 80GB HBM3");
  CHECK(gpu.get("mig_mode") == "disabled");
  CHECK(gpu.get("mig_mode_pending") == "enabled");
  CHECK(gpu.get("reset_required") == "true");
  CHECK(gpu.get("drain_reset_recommended") == "false");
  CHECK(gpu.get("pcie.link_gen") == "4");
  CHECK(gpu.get("pcie.link_gen_max") == "5");
  CHECK(gpu.get("pcie.link_width") == "8");
  CHECK(gpu.get("pcie.link_width_max") == "16");
  CHECK(gpu.get("pcie.replays") == "12");
  CHECK(gpu.find("fan") == nullptr);
  CHECK(gpu.get("clocks.hw_slowdown") == "active");
  CHECK(gpu.get("clocks.hw_thermal_slowdown") == "active");
  CHECK(gpu.get("clocks.hw_power_brake") == "not-active");
  CHECK(gpu.get("memory.total") == std::to_string(81559LL * 1048576));
  CHECK(gpu.get("memory.used_percent") == "50.0");
  CHECK(gpu.get("compute_mode") == "exclusive-process");
  CHECK(gpu.get("utilization.gpu") == "97");
  CHECK(gpu.get("ecc.mode") == "enabled");
  CHECK(gpu.get("ecc.volatile.sram_uncorrectable") == "2");
  CHECK(gpu.get("ecc.aggregate.sram_uncorrectable") == "3");
  CHECK(gpu.get("ecc.volatile.dram_uncorrectable") == "1");
  CHECK(gpu.get("ecc.sram_threshold_exceeded") == "true");
  CHECK(gpu.find("retired_pages.pending") == nullptr);
  CHECK(gpu.get("remapped_rows.pending") == "true");
  CHECK(gpu.get("remapped_rows.failure") == "false");
  CHECK(gpu.get("remapped_rows.bank_none") == "1");
  CHECK(gpu.get("temperature.gpu") == "88");
  CHECK(gpu.get("temperature.slowdown") == "87");
  CHECK(gpu.get("power.draw") == "412.35");
  CHECK(gpu.get("clocks.memory") == "2619");
  CHECK(gpu.get("fabric.state") == "in-progress");
  CHECK(gpu.get("process.count") == "2");
  CHECK(gpu.get("process.pids") == "4120,4121");
  CHECK(gpu.get("process.1.name") == "ray::Worker");
  CHECK(gpu.get("process.memory") == std::to_string(40500LL * 1048576));
  CHECK(gpu.get("state") == "ok");
  CHECK(line_of(k_query, gpu.find("remapped_rows.pending")->line) ==
        "        Pending                           : Yes");
  CHECK(line_of(k_query, gpu.find("ecc.volatile.sram_uncorrectable")->line) ==
        "            SRAM Uncorrectable SEC-DED    : 2");
  CHECK(line_of(k_query, gpu.find("clocks.hw_thermal_slowdown")->line) ==
        "            HW Thermal Slowdown           : Active");
}

TEST_CASE("smi -q: a GPU whose values cannot be read says so in its state") {
  const auto facts = facts_of(parse_smi_query, k_kind, k_query);
  const Fact& broken = facts.at(2);
  CHECK(broken.get("ecc.mode") == "unknown-error");
  CHECK(broken.get("state") == "unknown-error");
  CHECK(line_of(k_query, broken.find("state")->line) ==
        "        GPU Current Temp                  : Unknown Error");
  CHECK(broken.find("process.count") == nullptr);
}

TEST_CASE("smi -q: old and new names of sections and labels give the same fields") {
  const std::string old_names = R"(==============NVSMI LOG==============
Timestamp                                 : Tue May 12 10:15:02 2020
Driver Version                            : 470.82.01
Attached GPUs                             : 1
GPU 00000000:3B:00.0
    Clocks Throttle Reasons
        HW Slowdown                       : Active
            HW Thermal Slowdown           : Not Active
            HW Power Brake Slowdown       : Active
    ECC Errors
        Volatile
            Single Bit
                Device Memory             : 3
                Total                     : 3
            Double Bit
                Device Memory             : 1
                Total                     : 1
        Aggregate
            Double Bit
                Total                     : 5
    Retired Pages
        Single Bit ECC                    : 2
        Double Bit ECC                    : 17
        Pending Page Blacklist            : Yes
    Power Readings
        Power Draw                        : 120.00 W
        Enforced Power Limit              : 250.00 W
)";
  const auto facts = facts_of(parse_smi_query, k_kind, old_names);
  REQUIRE(facts.size() == 2);
  CHECK(facts[1].get("clocks.hw_slowdown") == "active");
  CHECK(facts[1].get("clocks.hw_thermal_slowdown") == "not-active");
  CHECK(facts[1].get("clocks.hw_power_brake") == "active");
  CHECK(facts[1].get("ecc.volatile.double_bit") == "1");
  CHECK(facts[1].get("ecc.aggregate.double_bit") == "5");
  CHECK(facts[1].get("retired_pages.double_bit") == "17");
  CHECK(facts[1].get("retired_pages.pending") == "true");
  CHECK(facts[1].get("power.draw") == "120");
  CHECK(facts[1].get("power.limit") == "250");

  // From 580 the colon stands at column 55.
  const std::string new_names = R"(==============NVSMI LOG==============
Timestamp                                              : Tue May 12 10:15:02 2026
Driver Version                                         : 580.95.05
Attached GPUs                                          : 1
GPU 00000009:01:00.0
    Product Name                                       : NVIDIA GB200
    GPU Recovery Action                                : Drain and Reset
    Clocks Event Reasons
        HW Slowdown                                    : Not Active
            HW Thermal Slowdown                        : Not Active
    Clocks Event Reasons Counters
        SW Power Capping                               : 1500000 us
        HW Thermal Slowdown                            : 2500000 us
    Utilization
        GPU                                            : 3 %
    ECC Errors
        Volatile
            SRAM Uncorrectable                         : 4
        Channel Repair Pending                         : Yes
        TPC Repair Pending                             : No
        Unrepairable Memory                            : No
    Temperature
        GPU Current Temp                               : 31 C
        GPU T.Limit Temp                               : -3 C
        GPU Slowdown T.Limit Temp                      : -2 C
    GPU Power Readings
        Average Power Draw                             : 137.34 W
        Instantaneous Power Draw                       : 999.00 W
    Fabric
        State                                          : Completed
        Status                                         : Success
        Health
            Summary                                    : Unhealthy
            Bandwidth                                  : Degraded
            Route Unhealthy                            : True
    Processes
        Process ID                        : 77
            Name                          : python
            Used GPU Memory               : N/A
)";
  const auto new_facts = facts_of(parse_smi_query, k_kind, new_names);
  REQUIRE(new_facts.size() == 2);
  const Fact& gpu = new_facts[1];
  CHECK(gpu.get("pci") == "0009:01:00.0");
  CHECK(gpu.get("recovery_action") == "drain-and-reset");
  CHECK(gpu.get("clocks.hw_thermal_slowdown") == "not-active");
  CHECK(gpu.get("clocks.total.hw_thermal_slowdown") == "2.5");
  CHECK(gpu.get("clocks.total.sw_power_cap") == "1.5");
  CHECK(gpu.get("utilization.gpu") == "3");
  CHECK(gpu.get("ecc.volatile.sram_uncorrectable") == "4");
  CHECK(gpu.get("ecc.channel_repair_pending") == "true");
  CHECK(gpu.get("ecc.unrepairable_memory") == "false");
  CHECK(gpu.get("temperature.t_limit") == "-3");
  CHECK(gpu.find("temperature.slowdown") == nullptr);
  CHECK(gpu.get("power.draw") == "137.34");
  CHECK(gpu.get("fabric.bandwidth") == "degraded");
  CHECK(gpu.get("fabric.route_unhealthy") == "true");
  CHECK(gpu.get("process.pids") == "77");
}

TEST_CASE("smi -q: recovery actions of every branch become one vocabulary") {
  for (const auto& [printed, expected] : {std::pair{"None", "none"},
                                          {"Reset", "reset"},
                                          {"GPU Reset Required", "reset"},
                                          {"PF FLR", "reset"},
                                          {"Reboot", "reboot"},
                                          {"Node Reboot Required", "reboot"},
                                          {"OS Reboot", "reboot"},
                                          {"Drain P2P", "drain-p2p"},
                                          {"Drain and Reset", "drain-and-reset"},
                                          {"Recover IMEX Domain", "recover-imex-domain"}}) {
    const auto facts =
        facts_of(parse_smi_query, k_kind,
                 "GPU 00000000:18:00.0\n    GPU Recovery Action    : " + std::string(printed));
    REQUIRE(facts.size() == 1);
    CHECK(facts[0].get("recovery_action") == expected);
  }
}

TEST_CASE("smi -q: MIG devices are facts of their own and do not disturb their GPU") {
  const std::string text = R"(Attached GPUs                             : 1
GPU 00000000:07:00.0
    Product Name                          : NVIDIA A100-SXM4-40GB
    MIG Mode
        Current                           : Enabled
        Pending                           : Enabled
    MIG Devices
        Index                             : 0
            GPU Instance ID               : 1
            Compute Instance ID           : 0
            Device Attributes
                Shared
                    Multiprocessor count  : 14
            ECC Errors
                Volatile
                    SRAM Uncorrectable    : 9
            FB Memory Usage
                Total                     : 4864 MiB
                Used                      : 4000 MiB
        Index                             : 1
            GPU Instance ID               : 2
            Compute Instance ID           : 0
            FB Memory Usage
                Total                     : 4864 MiB
                Used                      : 3 MiB
    GPU UUID                              : GPU-d9b95830-7cd8-ac41-4646-a329d2f4da0d
    FB Memory Usage
        Total                             : 40960 MiB
        Used                              : 4020 MiB
    ECC Errors
        Volatile
            SRAM Uncorrectable            : 0
    Remapped Rows                         : N/A
)";
  const auto facts = facts_of(parse_smi_query, k_kind, text);
  REQUIRE(facts.size() == 4);
  CHECK(facts[1].get("memory.total") == std::to_string(40960LL * 1048576));
  CHECK(facts[1].get("ecc.volatile.sram_uncorrectable") == "0");
  CHECK(facts[1].get("mig_mode") == "enabled");
  CHECK(facts[2].get("mig.device") == "0");
  CHECK(facts[2].get("mig.gpu_instance") == "1");
  CHECK(facts[2].get("memory.used") == std::to_string(4000LL * 1048576));
  CHECK(facts[2].get("ecc.volatile.sram_uncorrectable") == "9");
  CHECK(facts[2].get("mig.parent") == "GPU-d9b95830-7cd8-ac41-4646-a329d2f4da0d");
  CHECK(facts[3].get("mig.device") == "1");
  CHECK(facts[3].place.pci == "0000:07:00.0");
}

TEST_CASE("smi: lines that stand instead of a table are facts with text") {
  for (const std::string line :
       {"Failed to initialize NVML: Driver/library version mismatch", "No devices were found",
        "Unable to determine the device handle for GPU0000:A1:00.0: Unknown Error",
        "Unable to determine the device handle for GPU1: 0000:34:00.0: Unknown Error",
        "WARNING: infoROM is corrupted at gpu 0000:3B:00.0"})
    for (const auto parser : {parse_smi_table, parse_smi_query}) {
      const auto facts = facts_of(parser, k_kind, "\n" + line + "\n");
      REQUIRE(facts.size() == 1);
      CHECK(facts[0].text == line);
      CHECK(facts[0].line == 2);
    }
}

TEST_CASE("smi table: GPUs, their memory, modes and processes") {
  const std::string text = R"(Thu Mar  5 19:13:40 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.133.20             Driver Version: 570.133.20     CUDA Version: 12.8     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                    2 |
| N/A   31C    P0             71W /  700W |       4MiB /  81559MiB |     12%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA H100 80GB HBM3          Off |   00000000:43:00.0 Off |                 ERR! |
|ERR!  ERR! ERR!            ERR! /  ERR!  |  GPU is lost           | ERR!            ERR! |
|                                         |                        |                 ERR! |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0   N/A  N/A         1180222      C   python3 -m vllm                       81008MiB |
|    0   N/A  N/A            1811      G   /usr/lib/xorg/Xorg                        4MiB |
+-----------------------------------------------------------------------------------------+
)";
  const auto facts = facts_of(parse_smi_table, k_kind, text);
  REQUIRE(facts.size() == 3);
  CHECK(facts[0].get("gpus") == "2");
  CHECK(facts[0].get("cuda") == "12.8");
  CHECK(facts[0].stamp.has_value());
  const Fact& gpu = facts[1];
  CHECK(gpu.get("index") == "0");
  CHECK(gpu.get("name") == "NVIDIA H100 80GB HBM3");
  CHECK(gpu.get("persistence_mode") == "enabled");
  CHECK(gpu.get("pci") == "0000:1b:00.0");
  CHECK(gpu.get("ecc.uncorrectable") == "2");
  CHECK(gpu.get("temperature.gpu") == "31");
  CHECK(gpu.get("performance_state") == "P0");
  CHECK(gpu.get("power.draw") == "71");
  CHECK(gpu.get("power.limit") == "700");
  CHECK(gpu.get("memory.used") == std::to_string(4LL * 1048576));
  CHECK(gpu.get("memory.total") == std::to_string(81559LL * 1048576));
  CHECK(gpu.get("utilization.gpu") == "12");
  CHECK(gpu.get("compute_mode") == "default");
  CHECK(gpu.get("mig_mode") == "disabled");
  CHECK(gpu.get("process.count") == "2");
  CHECK(gpu.get("process.0.name") == "python3 -m vllm");
  CHECK(gpu.get("process.memory") == std::to_string(81012LL * 1048576));
  CHECK(gpu.get("state") == "ok");
  CHECK(facts[2].get("state") == "err");
  CHECK(facts[2].find("memory.used") == nullptr);
  CHECK(line_of(text, gpu.find("memory.used")->line).substr(0, 12) == "| N/A   31C ");
}

TEST_CASE("smi table: MIG devices, older boxes without MIG rows, and several tables in one file") {
  const std::string old_box = R"(
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 440.33.01    Driver Version: 440.33.01    CUDA Version: 10.2     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  Tesla V100-SXM2...  On   | 00000000:1A:00.0 Off |                  Off |
| 30%   38C    P0    56W / 300W |  15210MiB / 16160MiB |     43%   E. Process |
+-------------------------------+----------------------+----------------------+
|   1  Tesla V100-SXM2...  On   | 00000000:1C:00.0 Off |                  N/A |
| 30%   38C    P0    56W / 300W |      0MiB / 16160MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+
| Processes:                                                       GPU Memory |
|  GPU       PID   Type   Process name                             Usage      |
|=============================================================================|
|    0     28211      C   python                                     15200MiB |
+-----------------------------------------------------------------------------+
)";
  const std::string mig_box = R"(
| NVIDIA-SMI 470.82.01    Driver Version: 470.82.01    CUDA Version: 11.4     |
|   0  NVIDIA A100-SXM...  On   | 00000000:07:00.0 Off |                   On |
| N/A   30C    P0    44W / 400W |   4018MiB / 40536MiB |     N/A      Default |
|                               |                      |             Enabled* |
| MIG devices:                                                                |
|  0    1   0   0  |   4000MiB /  4864MiB | 14      0 |  1   0    0    0    0 |
|                  |      2MiB /  8191MiB |           |                       |
)";
  const auto facts = facts_of(parse_smi_table, k_kind, old_box + mig_box);
  REQUIRE(facts.size() == 6);
  CHECK(facts[0].get("driver") == "440.33.01");
  CHECK(facts[1].get("fan") == "30");
  CHECK(facts[1].get("ecc.mode") == "disabled");
  CHECK(facts[1].get("compute_mode") == "exclusive-process");
  CHECK(facts[1].get("process.pids") == "28211");
  CHECK(facts[2].get("index") == "1");
  CHECK(facts[3].get("driver") == "470.82.01");
  CHECK(facts[4].get("mig_mode") == "enabled");
  CHECK(facts[4].get("mig_mode_pending") == "disabled");
  CHECK(facts[5].get("mig.device") == "0");
  CHECK(facts[5].get("memory.used") == std::to_string(4000LL * 1048576));
  CHECK(facts[5].place.gpu_index == "0");
  CHECK(facts[5].place.pci == "0000:07:00.0");
}

TEST_CASE("smi -L: GPUs and MIG devices are listed with their UUIDs") {
  const auto facts =
      facts_of(parse_smi_table, k_kind,
               "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-d9b95830-7cd8-ac41-4646-a329d2f4da0d)\n"
               "  MIG 1g.5gb      Device  0: (UUID: MIG-2ab95830-7cd8-ac41-4646-a329d2f4da0d)\n");
  REQUIRE(facts.size() == 2);
  CHECK(facts[0].get("name") == "NVIDIA A100-SXM4-40GB");
  CHECK(facts[0].place.gpu_index == "0");
  CHECK(facts[1].get("uuid") == "MIG-2ab95830-7cd8-ac41-4646-a329d2f4da0d");
  CHECK(facts[1].get("mig.profile") == "1g.5gb");
  CHECK(facts[1].get("mig.parent") == facts[0].get("uuid"));
}

TEST_CASE("smi csv: columns by name, with and without units, and words of trouble") {
  const auto facts = facts_of(
      parse_smi_csv, k_kind,
      "index, uuid, pci.bus_id, name, memory.total [MiB], memory.used [MiB], "
      "clocks_throttle_reasons.hw_slowdown\n"
      "0, GPU-d9b95830-7cd8-ac41-4646-a329d2f4da0d, 00000000:18:00.0, NVIDIA H100, 81559 MiB, "
      "100 MiB, Active\n"
      "1, GPU-2ab95830-7cd8-ac41-4646-a329d2f4da0d, 00000000:2A:00.0, NVIDIA H100, "
      "[GPU requires reset], [N/A], [Unknown Error]\n"
      "index, gpu_recovery_action\n"
      "0, Reset\n");
  REQUIRE(facts.size() == 3);
  CHECK(facts[0].get("memory.total") == std::to_string(81559LL * 1048576));
  CHECK(facts[0].get("clocks.hw_slowdown") == "active");
  CHECK(facts[0].line == 2);
  CHECK(facts[1].get("state") == "requires-reset");
  CHECK(facts[2].get("recovery_action") == "reset");
  CHECK(facts[2].get("index") == "0");
}

TEST_CASE("smi csv: rows of processes and retired pages are gathered by GPU") {
  const auto facts = facts_of(
      parse_smi_csv, k_kind,
      "gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n"
      "GPU-d9b95830-7cd8-ac41-4646-a329d2f4da0d, 4120, python3, 40000 MiB\n"
      "GPU-d9b95830-7cd8-ac41-4646-a329d2f4da0d, 4121, python3, 500 MiB\n"
      "gpu_uuid, retired_pages.address, retired_pages.cause\n"
      "GPU-d9b95830-7cd8-ac41-4646-a329d2f4da0d, 0x0000000000005a1d, Double Bit ECC\n"
      "GPU-d9b95830-7cd8-ac41-4646-a329d2f4da0d, 0x0000000000005a1e, Single Bit ECC\n"
      "gpu_bus_id, remapped_rows.correctable, remapped_rows.pending, remapped_rows.failure\n"
      "00000000:18:00.0, 0, Yes, No\n");
  REQUIRE(facts.size() == 3);
  CHECK(facts[0].get("process.count") == "2");
  CHECK(facts[0].get("process.memory") == std::to_string(40500LL * 1048576));
  CHECK(facts[1].get("retired_pages.double_bit") == "1");
  CHECK(facts[1].get("retired_pages.single_bit") == "1");
  CHECK(facts[2].get("remapped_rows.pending") == "true");
}

TEST_CASE("smi -q -x: the tags of XML give the fields of -q") {
  const std::string text = R"(<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<timestamp>Tue May 12 10:15:02 2026</timestamp>
	<driver_version>550.90.07</driver_version>
	<cuda_version>12.4</cuda_version>
	<attached_gpus>1</attached_gpus>
	<gpu id="00000000:18:00.0">
		<product_name>NVIDIA H100 80GB HBM3</product_name>
		<mig_mode>
			<current_mig>Enabled</current_mig>
		</mig_mode>
		<mig_devices>
			<mig_device>
				<index>0</index>
				<gpu_instance_id>1</gpu_instance_id>
				<fb_memory_usage>
					<used>12 MiB</used>
				</fb_memory_usage>
			</mig_device>
		</mig_devices>
		<uuid>GPU-d9b95830-7cd8-ac41-4646-a329d2f4da0d</uuid>
		<gpu_reset_status>
			<reset_required>Yes</reset_required>
		</gpu_reset_status>
		<clocks_event_reasons>
			<clocks_event_reason_hw_slowdown>Active</clocks_event_reason_hw_slowdown>
			<clocks_event_reason_hw_thermal_slowdown>Active</clocks_event_reason_hw_thermal_slowdown>
		</clocks_event_reasons>
		<fb_memory_usage>
			<total>81559 MiB</total>
			<used>100 MiB</used>
		</fb_memory_usage>
		<ecc_errors>
			<volatile>
				<sram_uncorrectable_parity>1</sram_uncorrectable_parity>
				<sram_uncorrectable_secded>2</sram_uncorrectable_secded>
				<dram_uncorrectable>4</dram_uncorrectable>
			</volatile>
		</ecc_errors>
		<remapped_rows>
			<remapped_row_pending>Yes</remapped_row_pending>
			<remapped_row_failure>No</remapped_row_failure>
			<row_remapper_histogram>
				<row_remapper_histogram_none>1 bank(s)</row_remapper_histogram_none>
			</row_remapper_histogram>
		</remapped_rows>
		<temperature>
			<gpu_temp>Unknown Error</gpu_temp>
		</temperature>
		<processes>
			<process_info>
				<pid>77</pid>
				<type>C</type>
				<process_name>a &lt;b&gt;</process_name>
				<used_memory>500 MiB</used_memory>
			</process_info>
		</processes>
	</gpu>
</nvidia_smi_log>
)";
  const auto facts = facts_of(parse_smi_xml, k_kind, text);
  REQUIRE(facts.size() == 3);
  CHECK(facts[0].get("gpus") == "1");
  const Fact& gpu = facts[1];
  CHECK(gpu.get("index") == "0");
  CHECK(gpu.get("pci") == "0000:18:00.0");
  CHECK(gpu.get("reset_required") == "true");
  CHECK(gpu.get("clocks.hw_thermal_slowdown") == "active");
  CHECK(gpu.get("memory.used") == std::to_string(100LL * 1048576));
  CHECK(gpu.get("ecc.volatile.sram_uncorrectable") == "3");
  CHECK(gpu.get("remapped_rows.pending") == "true");
  CHECK(gpu.get("remapped_rows.bank_none") == "1");
  CHECK(gpu.get("process.0.name") == "a <b>");
  CHECK(gpu.get("state") == "unknown-error");
  CHECK(base::trim(line_of(text, gpu.find("remapped_rows.pending")->line)) ==
        "<remapped_row_pending>Yes</remapped_row_pending>");
  CHECK(facts[2].get("mig.device") == "0");
  CHECK(facts[2].get("memory.used") == std::to_string(12LL * 1048576));
}

TEST_CASE("smi nvlink: link states, error counters and the matrix of topo -m") {
  const std::string head = "GPU 0: NVIDIA H100 (UUID: GPU-d9b95830-7cd8-ac41-4646-a329d2f4da0d)\n";
  const auto status = facts_of(parse_smi_topology, k_kind,
                               head + "\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n");
  REQUIRE(status.size() == 1);
  CHECK(status[0].get("nvlink.0.state") == "active");
  CHECK(status[0].get("nvlink.1.state") == "inactive");
  CHECK(status[0].get("nvlink.inactive") == "1");
  CHECK(status[0].find("nvlink.inactive")->line == 3);
  const auto errors = facts_of(parse_smi_topology, k_kind,
                               head +
                                   "\t Link 0: Replay Errors: 0\n\t Link 0: Recovery Errors: 3\n"
                                   "\t Link 0: CRC Errors: 12\n");
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].get("nvlink.0.recovery") == "3");
  CHECK(errors[0].get("nvlink.0.crc") == "12");
  const auto matrix = facts_of(parse_smi_topology, k_kind,
                               "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\n"
                               "GPU0\t X \tNV18\tPIX\t0-51\t0\n"
                               "GPU1\tNV18\t X \tSYS\t0-51\t0\n\nLegend:\n\n  X    = Self\n");
  REQUIRE(matrix.size() == 2);
  CHECK(matrix[0].get("topology.GPU1") == "NV18");
  CHECK(matrix[1].get("topology.NIC0") == "SYS");
  CHECK(matrix[1].get("index") == "1");
}

TEST_CASE("smi: damaged text is survived and gives what is sound") {
  test::survive_damage(parse_smi_query, k_kind, k_query);
  test::survive_damage(parse_smi_table, k_kind, k_query);
  test::survive_damage(parse_smi_csv, k_kind, k_query);
  test::survive_damage(parse_smi_xml, k_kind, "<gpu id=\"00000000:18:00.0\"><a><b>1</b></a></gpu>");
  test::survive_damage(parse_smi_topology, k_kind, k_query);
}
