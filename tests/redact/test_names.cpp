#include <doctest/doctest.h>

#include <set>

#include "redact/identifiers.hpp"
#include "redact/namer.hpp"
#include "redact/values.hpp"

using namespace triage;
using redact::Namer;
using redact::What;

TEST_CASE("names: the same value has the same pseudonym, another salt another one") {
  Namer one(Namer::Style::pseudonyms, "salt one");
  Namer two(Namer::Style::pseudonyms, "salt two");
  CHECK(one.name(What::token, "x") == one.name(What::token, "x"));
  CHECK(one.name(What::token, "x") != one.name(What::token, "y"));
  CHECK(one.name(What::token, "x") != two.name(What::token, "x"));
  CHECK(one.salt_id() != two.salt_id());
  // A credential is the same one whatever the place called it.
  const std::string token = one.name(What::token, "x");
  const std::string password = one.name(What::password, "x");
  CHECK(token.substr(token.find(':')) == password.substr(password.find(':')));
}

TEST_CASE("names: every placeholder is known as one, so that a second run leaves it alone") {
  Namer namer(Namer::Style::pseudonyms, "s");
  Namer fixed(Namer::Style::fixed, "");
  for (std::size_t i = 0; i < redact::k_what_count; ++i) {
    const auto what = static_cast<What>(i);
    for (const std::string& name :
         {namer.name(what, "v"), fixed.name(what, "v"), namer.name_of_part(what)}) {
      CHECK_MESSAGE(redact::placeholder_length(name) == name.size(), name);
      CHECK_MESSAGE(redact::is_masked(name), name);
    }
  }
  CHECK(redact::placeholder_length("<stdin>") == 0);
  CHECK(redact::placeholder_length("<token>") == 0);
  CHECK(redact::placeholder_length("[INFO]") == 0);
}

TEST_CASE("names: no two addresses share a pseudonym") {
  Namer namer(Namer::Style::pseudonyms, "s");
  std::set<std::string> names;
  for (unsigned i = 0; i < 60'000; ++i) {
    const std::string address = "10." + std::to_string(i / 65536) + "." +
                                std::to_string(i / 256 % 256) + "." + std::to_string(i % 256);
    names.insert(namer.name_of_ip(address));
  }
  CHECK(names.size() == 60'000);
}

TEST_CASE("names: a pseudonym of an address looks like an address and is taken for none again") {
  Namer namer(Namer::Style::pseudonyms, "s");
  const std::string ip4 = namer.name_of_ip("10.42.3.17");
  CHECK(redact::parse_ip4(ip4).has_value());
  CHECK(redact::find_ip4(ip4, 0, ip4.size()).empty());
  const std::string ip6 = namer.name_of_ip("fd00:10:244::5");
  CHECK(redact::find_ip6(ip6, 0).empty());
  CHECK(namer.name_of_ip("fd00:10:244:0:0:0:0:5") == ip6);
  const std::string mac = namer.name_of_mac("a0:88:c2:1b:77:04");
  CHECK(mac.size() == 17);
  CHECK(redact::find_mac(mac, 0).empty());
  CHECK(namer.name_of_mac("A0-88-C2-1B-77-04") == mac);
  const std::string host = namer.name_of_host("gpu-node-07.prod.example.net");
  CHECK(host.starts_with("gpu-node-07.d-"));
  CHECK_FALSE(redact::is_private_host(host, true));
  CHECK(namer.name_of_host("gpu-node-08.prod.example.net").substr(11) == host.substr(11));
}

TEST_CASE("values: what a generator made is told from words, versions and names") {
  for (const char* random :
       {"Zr7Kq2Lm9Xw4Tn8Vb5Ga", "9b3ddd78b17db477f54b8be71ecd402a", "u9hYb6BxrTzOOM3nGL9D"})
    CHECK_MESSAGE(redact::looks_random(random), random);
  for (const char* word :
       {"EngineArgs", "FlashAttentionBackend", "llama-70b-instruct-prod", "hf-token-secret",
        "NVIDIA-H100-80GB-HBM3", "text-generation-launcher", "2026-05-12T10:11:12Z",
        "kube-api-access-7xk2p", "model.layers.0.self_attn.q_proj", "12345678901234567890"})
    CHECK_MESSAGE(!redact::looks_random(word), word);
}

TEST_CASE("values: paths, numbers and references are no secrets") {
  for (const char* path :
       {"/run/secrets/db", "./tls.key", "~/.netrc", "/etc/tls/ca.pem", "server-key.pem"})
    CHECK_MESSAGE(redact::is_path(path), path);
  CHECK_FALSE(redact::is_path("/Ab3+x9/Kq2Lm9Xw4Tn8Vb5GaZr7=="));
  for (const char* number : {"4096", "0.85", "40/s", "8Gi", "1e-5", "0x1f", "-1"})
    CHECK_MESSAGE(redact::is_number(number), number);
  for (const char* reference : {"${TOKEN}", "$(cat /run/t)", "$DB_PASSWORD", "{{ .Values.key }}",
                                "None", "null", "<set to the key 'a' in secret 'b'>"})
    CHECK_MESSAGE(redact::is_reference(reference), reference);
  CHECK_FALSE(redact::is_reference("$ecretPassw0rd"));
}
