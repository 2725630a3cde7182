#pragma once

#include <array>
#include <string_view>

#include "redact/key_class.hpp"

/// Where programs take a secret or a prompt on their command line without a name that says so.
namespace triage::redact {

/// What the value of a flag of one letter is, by the program that stands before it on the line.
[[nodiscard]] KeyClass class_of_flag(char letter, std::string_view before);

/// Whether a program takes the value without a blank behind the flag: `-pX`, `-ua:b`.
[[nodiscard]] bool takes_joined(char letter, std::string_view before);

/// Arguments of a command by their place.
struct ArgumentRow {
  std::string_view command;  ///< ends in the word that the arguments follow
  int skip;                  ///< arguments before the first that is taken
  int take;                  ///< how many are
  KeyClass key;
  int skip_again = -1;  ///< arguments behind them before one more is taken
};
inline constexpr auto k_argument_rows = std::to_array<ArgumentRow>({
    {"wandb login", 0, 1, {KeyKind::secret, What::token}},
    {"vault login", 0, 1, {KeyKind::secret, What::token}},
    {"cargo login", 0, 1, {KeyKind::secret, What::token}},
    {"operator unseal", 0, 1, {KeyKind::secret, What::token}},
    {"ngrok authtoken", 0, 1, {KeyKind::secret, What::token}},
    {"add-authtoken", 0, 1, {KeyKind::secret, What::token}},
    {"mc alias set", 2, 2, {KeyKind::secret, What::token}},
    {"config host add", 2, 2, {KeyKind::secret, What::token}},
    {"rabbitmqctl add_user", 1, 1, {KeyKind::secret, What::password}},
    {"rabbitmqctl change_password", 1, 1, {KeyKind::secret, What::password}},
    {"htpasswd -nb", 1, 1, {KeyKind::secret, What::password}},
    {"htpasswd -bc", 2, 1, {KeyKind::secret, What::password}},
    {"htpasswd -b", 2, 1, {KeyKind::secret, What::password}},
    {"htpasswd -bB", 2, 1, {KeyKind::secret, What::password}},
    {"htpasswd -Bb", 2, 1, {KeyKind::secret, What::password}},
    {"htpasswd -cb", 2, 1, {KeyKind::secret, What::password}},
    {"htpasswd -bcB", 2, 1, {KeyKind::secret, What::password}},
    {"htpasswd -cbB", 2, 1, {KeyKind::secret, What::password}},
    {"htpasswd -cBb", 2, 1, {KeyKind::secret, What::password}},
    {"htpasswd -nbB", 1, 1, {KeyKind::secret, What::password}},
    {"htpasswd -nBb", 1, 1, {KeyKind::secret, What::password}},
    {"htpasswd -nbm", 1, 1, {KeyKind::secret, What::password}},
    {"mosquitto_passwd -b", 2, 1, {KeyKind::secret, What::password}},
    {"user set password", 1, 1, {KeyKind::secret, What::password}},  // ipmitool
    {"mysqladmin password", 0, 1, {KeyKind::secret, What::password}},
    {"admin user add", 2, 1, {KeyKind::secret, What::password}},  // mc
    {"admin user svcacct add", 2, 2, {KeyKind::secret, What::password}},
    {"net user", 1, 1, {KeyKind::secret, What::password}},
    {"createUser", 2, 1, {KeyKind::secret, What::password}, 1},  // snmpd: SHA "x" AES "y"
    {"message-digest-key", 2, 1, {KeyKind::secret, What::password}},
    {"ntp authentication-key", 2, 1, {KeyKind::secret, What::password}},
    {"wpa_passphrase", 1, 1, {KeyKind::secret, What::password}},
    {"reset-admin-password", 0, 1, {KeyKind::secret, What::password}},
    {"set _authToken", 0, 1, {KeyKind::secret, What::token}},
    {"redis-cli AUTH", 0, 1, {KeyKind::secret, What::password}},
    {"stats auth", 0, 1, {KeyKind::pair, What::password}},
    {"insecure-password", 0, 1, {KeyKind::secret, What::password}},
    {"ollama run", 1, 1, {KeyKind::content, What::prompt}},
});

/// Directives of configuration files after which a header's name and its value stand.
[[nodiscard]] bool sets_header(std::string_view word);

}  // namespace triage::redact
