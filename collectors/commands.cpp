#include "collectors/commands.hpp"

#include <algorithm>
#include <ctime>

namespace triage::collectors {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds k_short{15'000};

}  // namespace

std::vector<std::string> kubectl_command(const Request& request,
                                         const std::vector<std::string>& words,
                                         milliseconds deadline) {
  if (words.empty()) return {};  // an engine's item has a url instead
  std::vector<std::string> argv{words.front()};
  if (!request.context.empty()) argv.insert(argv.end(), {"--context", request.context});
  const auto rest =
      std::max<std::int64_t>(1, std::chrono::duration_cast<seconds>(deadline).count());
  // A request timeout would cut an exec's stream.
  if (std::find(words.begin(), words.end(), "exec") == words.end())
    argv.push_back("--request-timeout=" + std::to_string(rest) + "s");
  argv.insert(argv.end(), words.begin() + 1, words.end());
  return argv;
}

std::string proxy_path(const std::string& name_space, const std::string& pod,
                       const std::string& port, const std::string& path) {
  return "/api/v1/namespaces/" + name_space + "/pods/" + pod + ":" + port + "/proxy/" + path;
}

std::vector<std::string> engine_command(const Request& request, const std::string& path,
                                        bool whole_answer, milliseconds deadline) {
  std::vector<std::string> words{"kubectl", "get", "--raw", path};
  if (whole_answer) words.emplace_back("-v=8");
  return kubectl_command(request, words, deadline);
}

std::vector<std::string> context_command(const Request& request) {
  return kubectl_command(request,
                         {"kubectl", "config", "view", "--minify", "-o",
                          "jsonpath={.current-context}{\"\\n\"}{..namespace}{\"\\n\"}"},
                         k_short);
}

std::vector<std::string> enter_pod(const Request& request, const std::string& name_space,
                                   const std::string& pod, const std::string& container) {
  return kubectl_command(request, {"kubectl", "-n", name_space, "exec", pod, "-c", container, "--"},
                         k_short);
}

std::vector<std::string> make_debug_pod(const Request& request, const std::string& name_space,
                                        const std::string& node) {
  constexpr milliseconds k_make{20'000};
  // It ends by itself should nobody be left to delete it.
  const auto lifetime =
      std::to_string(std::chrono::duration_cast<seconds>(request.deadline).count() + 60);
  return kubectl_command(
      request,
      {"kubectl", "-n", name_space, "debug", "node/" + node, "--image=" + request.debug_image,
       "--profile=sysadmin", "--attach=false", "--", "sleep", lifetime},
      k_make);
}

std::vector<std::string> enter_debug_pod(const Request& request, const std::string& name_space,
                                         const std::string& pod) {
  return kubectl_command(
      request, {"kubectl", "-n", name_space, "exec", pod, "--", "chroot", "/host"}, k_short);
}

std::vector<std::string> delete_debug_pod(const Request& request, const std::string& name_space,
                                          const std::string& pod) {
  return kubectl_command(
      request, {"kubectl", "-n", name_space, "delete", "pod", pod, "--wait=false"}, k_short);
}

std::vector<std::string> clock_command() {
  return {"sh", "-c",
          "echo now $(date -u +%s.%N); echo uptime $(cat /proc/uptime); echo boot $(cat "
          "/proc/sys/kernel/random/boot_id); grep btime /proc/stat; echo zone $(date +%Z)"};
}

std::vector<std::string> cat_command(const std::string& pattern) {
  if (pattern.find_first_of("*?[") == std::string::npos) return {"cat", pattern};
  return {"sh", "-c", "cat " + pattern};
}

std::string journal_time(std::int64_t ns) {
  const auto seconds = static_cast<std::time_t>(ns / 1'000'000'000);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc);
  return text;
}

}  // namespace triage::collectors
