#include <string>

#include "format_support.hpp"

using namespace triage;
using namespace triage::analysis::formats;
using evidence::Fact;
using test::facts_of;
using test::find_fact;

namespace {

constexpr auto k_kind = evidence::Kind::gpu_state;

const std::string k_rocm_smi = R"(

============================================ ROCm System Management Interface ============================================
====================================================== Concise Info ======================================================
Device  Node  IDs              Temp        Power     Partitions          SCLK     MCLK    Fan  Perf  PwrCap  VRAM%  GPU%  
              (DID,     GUID)  (Junction)  (Socket)  (Mem, Compute, ID)                                                     
==========================================================================================================================
0       2     0x74a1,   28851  42.0°C      137.0W    NPS1, SPX, 0        132Mhz   900Mhz  0%   auto  750.0W  80%    0%    
1       3     0x74a1,   23018  43.0°C      138.0W    NPS1, SPX, 0        133Mhz   900Mhz  N/A  auto  750.0W  0%     97%   
==========================================================================================================================
================================================== End of ROCm SMI Log ===================================================
============================ ROCm System Management Interface ============================
================================== Memory Usage (Bytes) ==================================
GPU[0]		: VRAM Total Memory (B): 206141652992
GPU[0]		: VRAM Total Used Memory (B): 165688320000
GPU[1]		: VRAM Total Memory (B): 206141652992
==================================== RAS Info ====================================
GPU[0]: 	RAS INFO
         Block       Status    Correctable Error  Uncorrectable Error
           UMC      ENABLED                    3                    1
          SDMA      ENABLED              1048560                    0
           GFX     DISABLED
===================================== KFD Processes ======================================
KFD process information:
PID    	PROCESS NAME	GPU(s)	VRAM USED   	SDMA USED	CU OCCUPANCY	
1180222	python3	1	165394710528	0	0	
==========================================================================================
GPU[0]		: PCI Bus: 0000:05:00.0
GPU[0]		: XGMI Error count: 4
Driver version: 6.8.5
WARNING: AMD GPU device(s) is/are in a low-power state. Check power control/runtime_status
)";

}  // namespace

TEST_CASE("rocm-smi: the concise table is read by its header, degree signs and all") {
  const auto facts = facts_of(parse_amd_smi_text, k_kind, k_rocm_smi);
  REQUIRE(facts.size() == 5);
  CHECK(facts[0].get("gpus") == "2");
  CHECK(facts[0].get("driver") == "6.8.5");
  const Fact& gpu = facts[1];
  CHECK(gpu.get("tool") == "rocm-smi");
  CHECK(gpu.get("index") == "0");
  CHECK(gpu.get("temperature.gpu") == "42");
  CHECK(gpu.get("power.draw") == "137");
  CHECK(gpu.get("clocks.sm") == "132");
  CHECK(gpu.get("clocks.memory") == "900");
  CHECK(gpu.get("power.limit") == "750");
  CHECK(gpu.get("memory.used_percent") == "80");
  CHECK(facts[2].get("utilization.gpu") == "97");
  CHECK(facts[2].find("fan") == nullptr);
}

TEST_CASE("rocm-smi: lines of one GPU, RAS tables and processes add to the same GPU") {
  const auto facts = facts_of(parse_amd_smi_text, k_kind, k_rocm_smi);
  const Fact& gpu = facts.at(1);
  CHECK(gpu.get("memory.total") == "206141652992");
  CHECK(gpu.get("memory.used") == "165688320000");
  CHECK(gpu.get("ras.umc.correctable") == "3");
  CHECK(gpu.get("ras.umc.uncorrectable") == "1");
  // 1048560 is what a failed read looks like.
  CHECK(gpu.find("ras.sdma.correctable") == nullptr);
  CHECK(gpu.get("ras.sdma.uncorrectable") == "0");
  CHECK(gpu.place.pci == "0000:05:00.0");
  CHECK(gpu.get("xgmi.errors") == "4");
  CHECK(gpu.get("state") == "ok");
  // The table counts GPUs of a process, but does not name them.
  CHECK(facts[3].get("process.pids") == "1180222");
  CHECK(facts[3].get("process.memory") == "165394710528");
  CHECK(facts[3].find("index") == nullptr);
  CHECK(facts[4].text.substr(0, 8) == "WARNING:");
}

TEST_CASE("rocm-smi: the older concise table") {
  const auto facts = facts_of(parse_amd_smi_text, k_kind, R"(
======================= ROCm System Management Interface =======================
================================= Concise Info =================================
GPU  Temp (DieEdge)  AvgPwr  SCLK    MCLK     Fan  Perf  PwrCap  VRAM%  GPU%  
0    35.0c           38.0W   300Mhz  1200Mhz  0%   auto  290.0W    7%   3%    
================================================================================
)");
  REQUIRE(facts.size() == 2);
  CHECK(facts[1].get("temperature.gpu") == "35");
  CHECK(facts[1].get("clocks.memory") == "1200");
  CHECK(facts[1].get("memory.used_percent") == "7");
}

TEST_CASE("amd-smi: indented text") {
  const auto facts = facts_of(parse_amd_smi_text, k_kind, R"(GPU: 0
    ASIC:
        MARKET_NAME: AMD Instinct MI300X
        TARGET_GRAPHICS_VERSION: gfx942
    BUS:
        BDF: 0000:05:00.0
    TEMPERATURE:
        EDGE: N/A
        HOTSPOT: 42 °C
        MEM: 33 °C
    ECC:
        TOTAL_CORRECTABLE_COUNT: 5
        TOTAL_UNCORRECTABLE_COUNT: 1
    ECC_BLOCKS:
        UMC:
            CORRECTABLE_COUNT: 5
            UNCORRECTABLE_COUNT: 1
    MEM_USAGE:
        TOTAL_VRAM: 196592 MB
        USED_VRAM: 283 MB
    PROCESS_INFO:
        NAME: python3
        PID: 77

GPU: 1
    ECC:
        TOTAL_UNCORRECTABLE_COUNT: 0
)");
  REQUIRE(facts.size() == 3);
  const Fact& gpu = facts[1];
  CHECK(gpu.get("tool") == "amd-smi");
  CHECK(gpu.get("name") == "AMD Instinct MI300X");
  CHECK(gpu.get("hw") == "gfx942");
  CHECK(gpu.place.pci == "0000:05:00.0");
  CHECK(gpu.get("temperature.gpu") == "42");
  CHECK(gpu.get("ecc.uncorrectable") == "1");
  CHECK(gpu.get("ras.umc.uncorrectable") == "1");
  CHECK(gpu.get("ras.umc.correctable") == "5");
  CHECK(gpu.get("memory.total") == std::to_string(196592LL * 1048576));
  CHECK(gpu.get("process.pids") == "77");
  CHECK(facts[2].get("ecc.uncorrectable") == "0");
}

TEST_CASE("amd-smi: the boxes of ROCm 7") {
  const auto facts = facts_of(parse_amd_smi_text, k_kind, R"(
+------------------------------------------------------------------------------+
| AMD-SMI 26.0.0+37d158ab   amdgpu version: 6.14.14 ROCm version: 7.0.0        |
|-------------------------------------+----------------------------------------|
| BDF                        GPU-Name | Mem-Uti   Temp   UEC       Power-Usage |
| GPU  HIP-ID  OAM-ID  Partition-Mode | GFX-Uti    Fan               Mem-Usage |
|=====================================+========================================|
| 0000:05:00.0    AMD Instinct MI300X | 0 %      42 °C   2           137/750 W |
|   0       0       0        SPX/NPS1 | 12 %       N/A           283/196592 MB |
+-------------------------------------+----------------------------------------+
)");
  REQUIRE(facts.size() == 2);
  const Fact& gpu = facts[1];
  CHECK(gpu.get("driver") == "6.14.14");
  CHECK(gpu.get("name") == "AMD Instinct MI300X");
  CHECK(gpu.get("temperature.gpu") == "42");
  CHECK(gpu.get("ecc.uncorrectable") == "2");
  CHECK(gpu.get("power.draw") == "137");
  CHECK(gpu.get("power.limit") == "750");
  CHECK(gpu.get("utilization.gpu") == "12");
  CHECK(gpu.get("memory.used") == std::to_string(283LL * 1048576));
}

TEST_CASE("amd-smi and rocm-smi JSON give the same fields with the line of each value") {
  const std::string amd = R"([
  {
    "gpu": 0,
    "bus": {"bdf": "0000:05:00.0"},
    "temperature": {"hotspot": {"value": 42, "unit": "C"}},
    "ecc": {
      "total_uncorrectable_count": 7
    },
    "ecc_blocks": {"GFX": {"correctable_count": 1, "uncorrectable_count": 2}},
    "mem_usage": {"total_vram": {"value": 196592, "unit": "MB"}},
    "process_list": [
      {"process_info": {"name": "python3", "pid": 77,
        "memory_usage": {"vram_mem": {"value": 1000, "unit": "B"}}}}
    ]
  }
])";
  const auto facts = facts_of(parse_amd_smi_json, k_kind, amd);
  REQUIRE(facts.size() == 2);
  const Fact& gpu = facts[1];
  CHECK(gpu.place.pci == "0000:05:00.0");
  CHECK(gpu.get("temperature.gpu") == "42");
  CHECK(gpu.get("ecc.uncorrectable") == "7");
  CHECK(gpu.find("ecc.uncorrectable")->line == 7);
  CHECK(gpu.get("ras.gfx.uncorrectable") == "2");
  CHECK(gpu.get("memory.total") == std::to_string(196592LL * 1048576));
  CHECK(gpu.get("process.0.memory") == "1000");
  const auto rocm = facts_of(parse_amd_smi_json, k_kind, R"j({
  "card0": {"VRAM Total Memory (B)": "206141652992", "PCI Bus": "0000:05:00.0"},
  "system": {"Driver version": "6.8.5"}
})j");
  REQUIRE(rocm.size() == 2);
  CHECK(rocm[1].get("tool") == "rocm-smi");
  CHECK(rocm[1].get("memory.total") == "206141652992");
  CHECK(rocm[0].get("driver") == "6.8.5");
}

TEST_CASE("rocminfo: GPU agents are facts, what stands instead of them is text") {
  const auto facts = facts_of(parse_rocminfo, k_kind, R"(ROCk module version 6.10.5 is loaded
=====================    
HSA System Attributes    
=====================    
Runtime Version:         1.14
==========               
HSA Agents               
==========               
*******                  
Agent 1                  
*******                  
  Name:                    AMD EPYC 9654
  Device Type:             CPU
*******                  
Agent 2                  
*******                  
  Name:                    gfx942                             
  Uuid:                    GPU-56e6a0257a959aac
  Marketing Name:          AMD Instinct MI300X                 
  Device Type:             GPU                                
  BDFID:                   1280                               
    Pool 1                   
      Segment:                 GLOBAL
*** Done ***             
)");
  REQUIRE(facts.size() == 2);
  CHECK(facts[0].text == "ROCk module version 6.10.5 is loaded");
  CHECK(facts[1].get("hw") == "gfx942");
  CHECK(facts[1].get("pci") == "0000:05:00.0");
  CHECK(facts[1].get("index") == "0");
  const auto failed = facts_of(parse_rocminfo, k_kind,
                               "ROCk module is loaded\nUnable to open /dev/kfd read-write: "
                               "Permission denied\napp is not member of \"render\" group\n");
  REQUIRE(failed.size() == 3);
  CHECK(failed[1].text == "Unable to open /dev/kfd read-write: Permission denied");
  CHECK(failed[1].line == 2);
}

TEST_CASE("amd: damaged text is survived") {
  test::survive_damage(parse_amd_smi_text, k_kind, k_rocm_smi);
  test::survive_damage(parse_rocminfo, k_kind, k_rocm_smi);
  test::survive_damage(parse_amd_smi_json, k_kind, R"([{"gpu": 0, "a": {"b": {"value": 1}}}])");
}
