#include "collect_run.hpp"

using namespace triage;
using namespace collect_run;

namespace {

const char* k_uuid = "GPU-0d2f8a46-1111-2222-3333-444455556666";

/// A host with one NVIDIA GPU.
void add_gpu_tools(const World& world) {
  world.tool("nvidia-smi", R"sh(case "$1" in
-L) echo "GPU 0: NVIDIA H100 (UUID: GPU-0d2f8a46-1111-2222-3333-444455556666)";;
-q) printf '\n==============NVSMI LOG==============\n\nTimestamp : now\n';;
--query-gpu=index,uuid*) echo "index, uuid, serial, pci.bus_id, name, driver_version, vbios_version"
  echo "0, GPU-0d2f8a46-1111-2222-3333-444455556666, 132, 00000000:3B:00.0, NVIDIA H100, 570.1, 96.00";;
--query*) echo "Field \"x\" is not a valid field to query."; exit 2;;
"") echo "| NVIDIA-SMI 570.1   Driver Version: 570.1   CUDA Version: 12.8 |";;
*) echo ok;;
esac)sh");
  world.tool("dmesg",
             "echo '[    1.000000] NVRM: loading NVIDIA UNIX x86_64 Kernel Module'\n"
             "echo '[  900.000000] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.'");
  world.tool("journalctl", "echo 'No journal files were found.' >&2; exit 1");
}

std::vector<std::string> local(const World& world, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"collect", "--local", "-o", world.path("out/b.tar.gz")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::string node_of(const Bundle& bundle) {
  REQUIRE_FALSE(bundle.checked.manifest.nodes.empty());
  return bundle.checked.manifest.nodes[0].name;
}

}  // namespace

TEST_CASE("a host's evidence, clock and GPU identities come into a sound bundle") {
  const World world;
  add_gpu_tools(world);
  const Run got = run(world, local(world, {"--tier", "minimal"}));
  INFO(got.errors());
  CHECK(got.exit() == 0);
  CHECK(got.bundle == world.path("out/b.tar.gz"));
  const Bundle bundle = open(got.bundle);
  const auto& manifest = bundle.checked.manifest;
  const std::string node = node_of(bundle);
  CHECK(manifest.complete);
  CHECK(bundle.file("nodes/" + node + "/kernel/dmesg.txt").find("Xid (PCI:0000:3b:00): 79") !=
        std::string::npos);
  CHECK(bundle.status("smi-q") == "ok");
  CHECK(manifest.nodes[0].smi_state == "ok");
  CHECK(manifest.nodes[0].boot_time_ns.has_value());
  REQUIRE(manifest.nodes[0].gpus.size() == 1);
  CHECK(manifest.nodes[0].gpus[0].uuid == k_uuid);
  CHECK(manifest.nodes[0].gpus[0].pci == "0000:3b:00.0");
  CHECK(manifest.redaction.verified);
  CHECK(got.errors().find("next     triage analyze") != std::string::npos);
  // Nothing is left but the bundle and its digest.
  CHECK(world.left_in_out().size() == 2);
  const Run analysed = run(world, {"analyze", "-f", "json", got.bundle});
  const auto report = nlohmann::json::parse(analysed.out, nullptr, false);
  REQUIRE_FALSE(report.is_discarded());
  CHECK(report["verdict"]["cause"] == "xid-79");
}

TEST_CASE("a host without GPU gives a useful bundle that says what was absent") {
  const World world;
  world.tool("dmesg", "echo '[    1.000000] EDAC MC: Ver: 3.0.0'");
  const Run got = run(world, local(world));
  INFO(got.errors());
  CHECK(got.exit() == 0);
  const Bundle bundle = open(got.bundle);
  CHECK(bundle.status("gate-nvidia") == "missing");
  CHECK(bundle.status("smi-q") == "skipped");
  CHECK(bundle.row("smi-q")->reason.find("no nvidia tools") != std::string::npos);
  CHECK(bundle.status("memory") == "ok");
  CHECK(bundle.checked.manifest.nodes[0].smi_state == "absent");
  CHECK(got.errors().find("without") != std::string::npos);
}

TEST_CASE("a hung nvidia-smi is evidence: nothing else asks the driver, the rest is gathered") {
  const World world;
  add_gpu_tools(world);
  world.tool("nvidia-smi",
             "[ \"$1\" = -L ] || touch \"$HOME/asked\"; trap '' TERM; sleep 600 & wait; sleep 600");
  const auto plan = hasty_plan(world, {{"command: [nvidia-smi, -L], deadline: 10s",
                                        "command: [nvidia-smi, -L], deadline: 1s"}});
  const auto before = std::chrono::steady_clock::now();
  const Run got = run(world, local(world, {"--tier", "minimal", "--plan", plan}));
  INFO(got.errors());
  CHECK(got.exit() == 4);
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(60));
  const Bundle bundle = open(got.bundle);
  CHECK(bundle.checked.manifest.nodes[0].smi_state == "hung");
  CHECK(bundle.status("gate-nvidia") == "timeout");
  CHECK(bundle.status("smi-q") == "skipped");
  CHECK(bundle.status("dmesg") == "ok");
  CHECK(bundle.status("gate-nvidia-kernel-state") == "ok");
  CHECK_FALSE(std::filesystem::exists(world.path("home/asked")));
}

TEST_CASE(
    "a flooding tool is cut to head and tail, a tool that prints invalid UTF-8 is kept as it is") {
  const World world;
  add_gpu_tools(world);
  world.tool("dmesg", "echo first; yes '[    1.000000] flood' | head -c 60000000; echo last");
  world.tool("free", "printf 'Mem: \\377\\376 broken\\n'");
  const auto plan = hasty_plan(world, {{"cap: 16MiB", "cap: 64KiB"}});
  const Run got = run(world, local(world, {"--plan", plan}));
  INFO(got.errors());
  const Bundle bundle = open(got.bundle);
  const auto* row = bundle.row("dmesg");
  REQUIRE(row != nullptr);
  REQUIRE(row->cut.has_value());
  CHECK(row->bytes_seen > 50'000'000);
  CHECK(row->bytes_kept < 70'000);
  const std::string text = bundle.file(row->path);
  CHECK(text.substr(0, 6) == "first\n");
  CHECK(text.substr(text.size() - 5) == "last\n");
  CHECK(bundle.file(bundle.row("free")->path) == "Mem: \xff\xfe broken\n");
}

TEST_CASE("an endless tool ends at its deadline with what it said") {
  const World world;
  world.tool("dmesg", "yes '[    1.000000] EDAC MC: endless'");
  const auto plan = hasty_plan(world, {{"tier: minimal, deadline: 15s, cap: 16MiB",
                                        "tier: minimal, deadline: 1s, cap: 64KiB"}});
  const Run got = run(world, local(world, {"--tier", "minimal", "--plan", plan}));
  INFO(got.errors());
  CHECK(got.exit() == 4);
  const Bundle bundle = open(got.bundle);
  CHECK(bundle.status("dmesg") == "timeout");
  CHECK(bundle.file(bundle.row("dmesg")->path).find("endless") != std::string::npos);
}

TEST_CASE("secrets are masked before they touch the disk, also in a run that is killed") {
  const World world;
  const std::string secret = "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";
  world.tool("dmesg", "echo '[    1.000000] cmdline: HF_TOKEN=" + secret + "'; sleep 0.5");
  world.tool("uname", "sleep 600");
  std::atomic<bool> cancel{false};
  const auto plan = hasty_plan(world);
  base::Command command;
  command.argv = {TRIAGE_BINARY, "collect", "--local", "-o",     world.path("out/b.tar.gz"),
                  "--plan",      plan,      "--tier",  "minimal"};
  command.environment = world.environment();
  command.grace = std::chrono::milliseconds(0);  // SIGTERM and at once SIGKILL
  command.deadline = std::chrono::seconds(60);
  std::thread killer([&] {
    for (int i = 0; i < 600 && !cancel; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      for (const auto& entry : std::filesystem::recursive_directory_iterator(world.path("out")))
        if (entry.path().filename() == "dmesg.txt") cancel = true;
    }
    cancel = true;
  });
  (void)base::run(
      command, [](std::string_view) { return true; }, &cancel);
  killer.join();
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(world.path("out"))) {
    if (!entry.is_regular_file()) continue;
    ++files;
    CHECK(read_file(entry.path().string()).find(secret) == std::string::npos);
  }
  CHECK(files > 0);
}

TEST_CASE(
    "a signal or the deadline leaves a valid bundle that says it is incomplete, and resume "
    "completes it") {
  const World world;
  world.tool("dmesg", "echo '[    1.000000] EDAC MC: Ver: 3.0.0'");
  world.tool("uname", "[ -e \"$HOME/go\" ] || sleep 600; echo Linux");
  const Run cut = run(world, local(world, {"--tier", "minimal", "--deadline", "3s"}));
  INFO(cut.errors());
  CHECK(cut.exit() == 4);
  const Bundle first = open(cut.bundle);
  CHECK_FALSE(first.checked.manifest.complete);
  CHECK(first.checked.manifest.deadline_hit);
  CHECK(first.status("dmesg") == "ok");
  CHECK(first.status("uname") != "ok");
  const auto at = cut.errors().find("--resume ");
  REQUIRE(at != std::string::npos);
  std::string spool = cut.errors().substr(at + 9);
  spool = spool.substr(0, spool.find(' '));
  REQUIRE(std::filesystem::exists(spool));

  world.write("home/go", "");
  world.tool("dmesg", "touch \"$HOME/dmesg-again\"; echo '[    1.000000] EDAC MC: again'");
  const Run resumed = run(world, {"collect", "--resume", spool, "--deadline", "60s"});
  INFO(resumed.errors());
  CHECK(resumed.exit() == 0);
  const Bundle second = open(resumed.bundle);
  CHECK(second.checked.manifest.complete);
  CHECK(second.status("uname") == "ok");
  CHECK(second.file(second.row("dmesg")->path).find("Ver: 3.0.0") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(world.path("home/dmesg-again")));
  CHECK_FALSE(std::filesystem::exists(spool));
  CHECK(second.checked.manifest.bundle_id == first.checked.manifest.bundle_id);
}

TEST_CASE("SIGINT leaves a valid bundle and exit 130") {
  const World world;
  world.tool("dmesg", "echo '[    1.000000] EDAC MC: Ver: 3.0.0'");
  // Interrupts when the kernel log is in the spool: before that, there is nothing to keep.
  world.tool("uname", "until grep -rqs 'EDAC MC' " + world.path("out") +
                          "; do sleep 0.05; done; kill -INT $PPID; sleep 600");
  const Run got = run(world, local(world, {"--tier", "minimal"}));
  INFO(got.errors());
  CHECK(got.exit() == 130);
  const Bundle bundle = open(got.bundle);
  CHECK_FALSE(bundle.checked.manifest.complete);
  CHECK(bundle.status("dmesg") == "ok");
}

TEST_CASE("a target that cannot be written is one clear message and leaves nothing") {
  const World world;
  world.tool("dmesg", "echo x");
  const Run got = run(world, {"collect", "--local", "-o", world.path("no/such/dir/b.tar.gz")});
  CHECK(got.exit() == 1);
  CHECK(got.errors().find("No such file or directory") != std::string::npos);
  // A disk that fills up, played by a limit on the size of files.
  world.tool("dmesg", "yes '[    1.000000] NVRM: much' | head -c 3000000");
  base::Command command;
  command.argv = {"sh",
                  "-c",
                  "ulimit -f 100; exec \"$0\" \"$@\"",
                  TRIAGE_BINARY,
                  "collect",
                  "--local",
                  "--tier",
                  "minimal",
                  "-o",
                  world.path("out/b.tar.gz")};
  command.environment = world.environment();
  const auto ended = base::run(command, [](std::string_view) { return true; });
  INFO(ended.error_text);
  CHECK(ended.exit_code == 1);
  CHECK(ended.error_text.find("cannot") != std::string::npos);
  CHECK(world.left_in_out().empty());
}

TEST_CASE("the same evidence, salt and time give the same bytes") {
  const World world;
  world.tool("dmesg", "echo '[    1.000000] peer 10.1.2.3 is up'");
  const auto plan = world.write("plan.yaml",
                                "plan: t\nitems:\n  - {id: dmesg, role: kernel-log, for: host, "
                                "tier: minimal, command: [dmesg], "
                                "path: 'nodes/{node}/kernel/dmesg.txt'}\n");
  std::string first;
  for (const char* name : {"out/a.tar.gz", "out/b.tar.gz"}) {
    const Run got = run(
        world,
        {"collect", "--local", "--plan", plan, "--salt", "s", "-o", world.path("out/same.tar.gz")},
        {{"SOURCE_DATE_EPOCH", "1768206000"}});
    INFO(got.errors());
    REQUIRE(got.exit() == 0);
    std::filesystem::rename(got.bundle, world.path(name));
    const std::string bytes = read_file(world.path(name));
    if (!first.empty()) CHECK(bytes == first);
    first = bytes;
  }
  CHECK_FALSE(open(world.path("out/a.tar.gz")).holds("10.1.2.3"));
}

TEST_CASE("a dry run prints the commands and runs none; --list prints a plan that can be used") {
  const World world;
  for (const char* name : {"dmesg", "nvidia-smi", "kubectl", "journalctl"})
    world.tool(name, "touch \"$HOME/ran\"");
  const Run dry = run(world, {"collect", "chat-0", "-n", "llm", "--local", "--debug-node",
                              "--context", "prod", "--dry-run"});
  CHECK(dry.exit() == 0);
  for (const char* command :
       {"kubectl --context prod --request-timeout=60s -n llm logs <pod> -c <container> --previous "
        "--timestamps\n",
        "kubectl --context prod --request-timeout=15s -n llm get pod chat-0 -o json\n",
        "/pods/<pod>:<port>/proxy/health -v=8\n", "exec <gpu-pod> -c <container> -- nvidia-smi -L",
        "debug node/<node> --image=busybox:stable", "exec <debug-pod> -- chroot /host dmesg\n",
        "delete pod <debug-pod> --wait=false", "\nnvidia-smi -q   # where",
        "\nrocm-smi -i   # gate", "\nsh -c 'echo now ", "\ncat -- /var/log/kern.log*",
        "GET http://127.0.0.1:<port>/metrics\n"}) {
    CAPTURE(std::string(command));
    CHECK(dry.out.find(command) != std::string::npos);
  }
  CHECK(dry.out.find("<since>") == std::string::npos);
  const Run plain = run(world, {"collect", "chat-0", "-n", "llm", "--dry-run"});
  CHECK(plain.out.find("debug node/") == std::string::npos);
  CHECK(plain.out.find("delete pod") == std::string::npos);
  CHECK_FALSE(std::filesystem::exists(world.path("home/ran")));
  const Run list = run(world, {"collect", "--list"});
  CHECK(collectors::parse_plan(list.out, "x").ok());
}

TEST_CASE("usage mistakes are said in one line with exit 2") {
  const World world;
  const auto mistake = [&](std::vector<std::string> arguments) {
    const Run got = run(world, std::move(arguments));
    CHECK(got.exit() == 2);
    return got.errors();
  };
  CHECK(mistake({"collect"}).find("name what to collect") != std::string::npos);
  CHECK(mistake({"collect", "--local", "--since", "soon"}).find("--since") != std::string::npos);
  CHECK(mistake({"collect", "--local", "--max-size", "big"}).find("--max-size") !=
        std::string::npos);
  CHECK(mistake({"collect", "--local", "--plan", "/no/such"}).find("/no/such") !=
        std::string::npos);
  CHECK(mistake({"collect", "--resume", "/no/such"}).find("/no/such") != std::string::npos);
  for (const char* target : {"", "deploy/", "/x", "two words"})
    CHECK(mistake({"collect", target}).find("names nothing") != std::string::npos);
  CHECK(mistake({"collect", "--node", ""}).find("--node") != std::string::npos);
  CHECK(mistake({"collect", "--", "-x"}).find("names nothing") != std::string::npos);
  // Before anything is gathered, not when it would be lost.
  world.tool("dmesg", "touch \"$HOME/ran\"");
  CHECK(mistake({"collect", "--local", "-o", "-"}).find("a bundle is a file") != std::string::npos);
  CHECK(mistake({"collect", "--local", "-o", world.path("b.zip")}).find("FILE.tar.gz") !=
        std::string::npos);
  CHECK(mistake({"collect", "--local", "-o", world.path("out")}).find("is a directory") !=
        std::string::npos);
  CHECK(mistake({"collect", "--local", "--map", world.path("no/such/map")})
            .find("No such file or directory") != std::string::npos);
  CHECK(mistake({"collect", "--local", "--map", world.path("b.tar.gz"), "-o",
                 world.path("out/../b.tar.gz")})
            .find("a file each") != std::string::npos);
  CHECK(mistake({"collect", "--local", "--label", "ticket"}).find("KEY=VALUE") !=
        std::string::npos);
  CHECK(
      mistake({"collect", "--local", "--map", std::string(5000, 'm')}).find("File name too long") !=
      std::string::npos);
  CHECK_FALSE(std::filesystem::exists(world.path("home/ran")));
  const Run long_name = run(world, {"collect", "--local", "-o", std::string(5000, 'b')});
  CHECK(long_name.exit() == 1);
  CHECK(long_name.errors().find("internal error") == std::string::npos);
}

TEST_CASE("the private map is written outside the bundle for its owner alone") {
  const World world;
  world.tool("dmesg", "echo '[    1.000000] peer 10.1.2.3 is up'");
  const Run got = run(world, local(world, {"--tier", "minimal", "--map", world.path("map.json")}));
  INFO(got.errors());
  CHECK(read_file(world.path("map.json")).find("10.1.2.3") != std::string::npos);
  struct stat info {};
  REQUIRE(::stat(world.path("map.json").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0600);
  CHECK(open(got.bundle).checked.manifest.redaction.map_written);
}

TEST_CASE("the manifest says of each text when it was written and how, and never the salt") {
  const World world;
  world.tool("dmesg",
             "echo '[    1.250000] EDAC MC: Ver: 3.0.0'; echo '[  900.500000] EDAC MC: gone'");
  world.tool("journalctl",
             "case \"$*\" in *-b\\ 0*) echo '2026-01-12T08:00:00.250000+00:00 n kernel: \303\244';"
             " echo '2026-01-12T08:05:00+00:00 n kernel: b';; *) echo '-- No entries --';; esac");
  const Run got = run(world, local(world, {"--salt", "grains-of-it", "--label", "ticket=INC-7",
                                           "--label", "env=prod"}));
  INFO(got.errors());
  const Bundle bundle = open(got.bundle);
  const auto& manifest = bundle.checked.manifest;
  CHECK(manifest.labels.at("ticket") == "INC-7");
  CHECK(manifest.labels.at("env") == "prod");
  for (const auto& word : manifest.cmdline) CHECK(word.find("grains-of-it") == std::string::npos);
  CHECK_FALSE(bundle.holds("grains-of-it"));
  CHECK(bundle.row("dmesg")->time_format == "monotonic");
  CHECK(bundle.row("dmesg")->time_first == "1.250000");
  CHECK(bundle.row("dmesg")->time_last == "900.500000");
  CHECK(bundle.row("dmesg")->encoding == "ascii");
  CHECK(bundle.row("journal-kernel")->time_format == "rfc3339");
  CHECK(bundle.row("journal-kernel")->time_first == "2026-01-12T08:00:00.250Z");
  CHECK(bundle.row("journal-kernel")->time_last == "2026-01-12T08:05:00Z");
  CHECK(bundle.row("journal-kernel")->encoding == "utf-8");
  // A journal without a line is no evidence.
  CHECK(bundle.status("kubelet") == "empty");
  CHECK(bundle.row("kubelet")->reason == "-- No entries --");
  CHECK(bundle.row("kubelet")->path.empty());
}

TEST_CASE("many commands at a time give the same bytes too, when salt and time are fixed") {
  const World world;
  std::string plan = "plan: t\nitems:\n";
  for (int i = 0; i < 12; ++i)
    plan += "  - {id: i" + std::to_string(i) +
            ", role: environment, for: host, command: [pause, '" + std::to_string(i) +
            "'], path: 'nodes/{node}/" + std::to_string(i) + ".txt'}\n";
  world.tool("pause", "sleep 0.$(od -An -N1 -tu1 /dev/urandom | tr -d ' '); echo \"item $1\"");
  world.write("plan.yaml", plan);
  std::string first;
  for (int i = 0; i < 2; ++i) {
    const Run got =
        run(world, local(world, {"--plan", world.path("plan.yaml"), "--salt", "s", "--jobs", "6"}),
            {{"SOURCE_DATE_EPOCH", "1768206000"}});
    REQUIRE(got.exit() == 0);
    const std::string bytes = read_file(got.bundle);
    if (first.empty()) first = bytes;
    CHECK(bytes == first);
  }
}

TEST_CASE("the summary counts each step once and names what was cut, kept in part and missing") {
  const World world;
  world.tool("dmesg", "yes '[    1.000000] EDAC MC: much' | head -c 3000000");
  world.tool("free", "echo 'Mem: 1'; sleep 600");
  const auto plan =
      hasty_plan(world, {{"cap: 16MiB", "cap: 64KiB"},
                         {"command: [free, -b]", "command: [free, -b], deadline: 1s"},
                         {"deadline: 5s, cap: 64KiB, keep: head,\n     command: [free",
                          "cap: 64KiB, keep: head,\n     command: [free"}});
  const Run got = run(world, local(world, {"--plan", plan}));
  INFO(got.errors());
  CHECK(got.errors().find("in part  dmesg (") != std::string::npos);
  CHECK(got.errors().find("left out\n") != std::string::npos);
  CHECK(got.errors().find("in part  free (") != std::string::npos);
  std::size_t number = 0;
  for (const auto line : base::split_lines(got.errors())) {
    if (line.substr(0, 1) != "[") continue;
    CHECK(line.substr(1, line.find('/') - 1) == std::to_string(++number));
  }
  CHECK(number > 10);
}

TEST_CASE("a tool that hangs behind a good gate is noticed: no other asks the driver after it") {
  const World world;
  add_gpu_tools(world);
  world.tool("nvidia-smi",
             "[ \"$1\" = -L ] && echo 'GPU 0: NVIDIA H100' && exit; "
             "echo \"$@\" >> \"$HOME/asked\"; sleep 600");
  const auto plan = hasty_plan(
      world, {{"tier: minimal, deadline: 30s, cap: 8MiB, keep: head,\n     command: [nvidia-smi]",
               "tier: minimal, deadline: 1s, cap: 8MiB, keep: head,\n     command: [nvidia-smi]"}});
  const Run got = run(world, local(world, {"--tier", "minimal", "--jobs", "1", "--plan", plan}));
  INFO(got.errors());
  const Bundle bundle = open(got.bundle);
  CHECK(bundle.checked.manifest.nodes[0].smi_state == "hung");
  CHECK(bundle.status("smi") == "timeout");
  CHECK(bundle.status("smi-q") == "skipped");
  CHECK(bundle.row("smi-q")->reason.find("nvidia-smi hangs") == 0);
  CHECK(read_file(world.path("home/asked")) == "\n");
  CHECK(bundle.file("nodes/" + node_of(bundle) + "/nvidia/hang.txt").find("did not answer") !=
        std::string::npos);
}

TEST_CASE("--analyze shows the report and puts it into the bundle") {
  const World world;
  add_gpu_tools(world);
  const Run got = run(world, local(world, {"--tier", "minimal", "--analyze"}));
  INFO(got.errors());
  CHECK(got.exit() == 0);
  CHECK(got.out.find("xid-79") != std::string::npos);
  CHECK(got.errors().find("next ") == std::string::npos);
  const Run verified = run(world, {"verify", got.bundle});
  CHECK(verified.exit() == 0);
  base::Command list;
  list.argv = {"tar", "-tzf", got.bundle};
  std::string names;
  (void)base::run(list, [&](std::string_view piece) {
    names += piece;
    return true;
  });
  CHECK(names.find("/report/report.json\n") != std::string::npos);
  CHECK(names.find("/report/report.md\n") != std::string::npos);
  // The report is no evidence: a second look says the same.
  const Run again = run(world, {"analyze", "-f", "json", got.bundle});
  CHECK(nlohmann::json::parse(again.out)["verdict"]["cause"] == "xid-79");
}

TEST_CASE("--strict takes the host's name away, and a pasted secret leaves the incident's name") {
  const World world;
  const std::string secret = "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";
  world.tool("dmesg", "echo '[    1.000000] EDAC MC: Ver: 3.0.0'");
  world.tool("uname", "echo \"Linux $(cat /proc/sys/kernel/hostname) 6.1.0\"");
  const std::string host = base::trim(read_file("/proc/sys/kernel/hostname")).data();
  const Run got = run(world, {"collect", "--local", "--strict", "--tier", "minimal", "--incident",
                              "INC " + secret, "-o", world.path("out/b.tar.gz")});
  INFO(got.errors());
  const Bundle bundle = open(got.bundle);
  CHECK(node_of(bundle) != base::trim(host));
  CHECK(bundle.checked.manifest.bundle_id.find("QzkWmX") == std::string::npos);
  CHECK(bundle.checked.manifest.incident.find("QzkWmX") == std::string::npos);
  CHECK(run(world, {"verify", got.bundle}).exit() == 0);
}
