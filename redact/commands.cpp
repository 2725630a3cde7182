#include "redact/commands.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace triage::redact {
namespace {

constexpr KeyClass k_password{KeyKind::secret, What::password};
constexpr KeyClass k_token{KeyKind::secret, What::token};
constexpr KeyClass k_pair{KeyKind::pair, What::password};
constexpr KeyClass k_prompt{KeyKind::content, What::prompt};

struct FlagRow {
  char letter;
  bool joined;  ///< also `-pX`
  KeyClass key;
  std::array<std::string_view, 12> programs;
};

/// Sources: the manuals of the programs.
constexpr auto k_flags = std::to_array<FlagRow>({
    {'u', true, k_pair, {"curl", "wget", "http ", "https "}},
    {'U', false, k_pair, {"curl", "wget", "smbclient"}},
    {'p', true, k_password, {"sshpass", "mysql", "mariadb", "7z "}},
    {'p',
     false,
     k_password,
     {"login", "mongo", "redis", "skopeo", "racadm", "cqlsh", "cypher-shell", "twine", "beeline",
      "useradd", "rdesktop", "influx"}},
    {'p',
     false,
     k_prompt,
     {"llama-", "llama.cpp", "main -m", "mlx_lm", "gemma", "claude", "gemini"}},
    {'P',
     false,
     k_password,
     {"sqlcmd", "bcp ", "ipmitool", "mosquitto_", "zip ", "unzip ", "ssh-keygen"}},
    {'N', false, k_password, {"ssh-keygen"}},
    {'a', false, k_password, {"redis-cli"}},
    {'a', false, k_pair, {"http ", "https "}},
    {'w', false, k_password, {"ldap", "kadmin"}},
    {'s', false, k_password, {"ldappasswd", "slappasswd"}},
    {'k', false, k_password, {"openssl enc"}},
    {'c', false, k_token, {"snmpwalk", "snmpget", "snmpbulk", "snmptable"}},
    {'A', false, k_password, {"snmpwalk", "snmpget", "snmpbulk"}},
    {'X', false, k_password, {"snmpwalk", "snmpget", "snmpbulk"}},
    {'b', false, {KeyKind::cookie, What::cookie}, {"curl"}},
});

const FlagRow* row_of(char letter, std::string_view before) {
  for (const FlagRow& row : k_flags) {
    if (row.letter != letter) continue;
    for (const std::string_view program : row.programs)
      if (!program.empty() && base::contains(before, program)) return &row;
  }
  return nullptr;
}

}  // namespace

KeyClass class_of_flag(char letter, std::string_view before) {
  const FlagRow* row = row_of(letter, before);
  return row != nullptr ? row->key : KeyClass{};
}

bool takes_joined(char letter, std::string_view before) {
  const FlagRow* row = row_of(letter, before);
  return row != nullptr && row->joined;
}

bool sets_header(std::string_view word) {
  static constexpr std::array<std::string_view, 8> k_directives{
      "proxy_set_header", "grpc_set_header", "add_header", "more_set_headers",
      "set-header",       "add-header",      "header_up",  "RequestHeader"};
  return std::find(k_directives.begin(), k_directives.end(), word) != k_directives.end();
}

}  // namespace triage::redact
