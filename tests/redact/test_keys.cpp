#include <doctest/doctest.h>

#include "redact/key_class.hpp"

using namespace triage;
using redact::KeyClassifier;
using redact::KeyKind;

TEST_CASE("keys: names are split into words at signs, cases and before numbers") {
  CHECK(redact::key_words("OPENAI_API_KEY") == std::vector<std::string>{"openai", "api", "key"});
  CHECK(redact::key_words("accessToken") == std::vector<std::string>{"access", "token"});
  CHECK(redact::key_words("HTTPSProxyURL") == std::vector<std::string>{"https", "proxy", "url"});
  CHECK(redact::key_words("x-api-key") == std::vector<std::string>{"x", "api", "key"});
  CHECK(redact::key_words("key2") == std::vector<std::string>{"key"});
}

TEST_CASE("keys: credentials by the words of their name") {
  const KeyClassifier keys;
  for (const char* name : {"password",
                           "DB_PASSWORD",
                           "PGPASSWORD",
                           "MYSQL_PWD",
                           "requirepass",
                           "dbPassword",
                           "smtp.pass",
                           "spring.datasource.password",
                           "api_key",
                           "apiKey",
                           "x-api-key",
                           "Ocp-Apim-Subscription-Key",
                           "AWS_SECRET_ACCESS_KEY",
                           "secretAccessKey",
                           "master_key",
                           "client_secret",
                           "SIGNING_SECRET",
                           "hf_token",
                           "HUGGING_FACE_HUB_TOKEN",
                           "refresh-token",
                           "id_token",
                           "tenant_token",
                           "ENCRYPTION_KEY",
                           "LDAP_BIND_CREDENTIALS",
                           "bindpw",
                           "WANDB_API_KEY",
                           "keyStorePassword",
                           "admin_api_key"})
    CHECK_MESSAGE(keys.classify(name).is_secret(), std::string(name));
}

TEST_CASE("keys: names that speak of something else are no credentials") {
  const KeyClassifier keys;
  for (const char* name : {"max_tokens",
                           "token_budget",
                           "TOKEN_LIMIT",
                           "tokenizer_mode",
                           "skip_tokenizer_init",
                           "num_tokens",
                           "HF_TOKEN_PATH",
                           "salt_id",
                           "PASSWORD_FILE",
                           "secret_name",
                           "secretName",
                           "token_type",
                           "AUTH_MODE",
                           "KEYBOARD_LAYOUT",
                           "MONKEY_PATCH",
                           "GPG_KEY",
                           "TRITON_CACHE_KEY_VERSION",
                           "public_key",
                           "TOKENIZERS_PARALLELISM",
                           "kv_cache_dtype",
                           "eos_token",
                           "bypass",
                           "compass",
                           "author",
                           "session_timeout",
                           "key_prefix",
                           "password_policy",
                           "api_key_header",
                           "token_rate",
                           "tokens_per_second",
                           "certificate_authority_data"})
    CHECK_MESSAGE(!keys.classify(name).is_secret(), std::string(name));
}

TEST_CASE("keys: content by its nouns, measures of content not") {
  const KeyClassifier keys;
  for (const char* name :
       {"prompt", "system_prompt", "SYSTEM_PROMPT", "completion", "generated_text", "page_content",
        "last_user_message", "reply", "question", "user_input", "reasoning_content"})
    CHECK_MESSAGE(keys.classify(name).kind == KeyKind::content, std::string(name));
  for (const char* name :
       {"prompt_len", "prompt_logprobs", "prompt_tokens_total", "completion_id", "message", "msg",
        "error_message", "output_dir", "context_length", "input_size", "response_code"})
    CHECK_MESSAGE(!keys.classify(name).masks_text(), std::string(name));
  for (const char* name :
       {"input_ids", "prompt_token_ids", "output_ids", "origin_input_ids", "token_ids"})
    CHECK_MESSAGE(keys.classify(name).kind == KeyKind::token_ids, std::string(name));
  for (const char* name :
       {"eos_token_id", "stop_token_ids", "device_ids", "block_ids", "request_id"})
    CHECK_MESSAGE(keys.classify(name).kind == KeyKind::none, std::string(name));
}

TEST_CASE("keys: what the person says wins") {
  KeyClassifier keys;
  keys.add("build_token", {});
  keys.add("zug", {KeyKind::secret, redact::What::secret});
  CHECK(keys.classify("BUILD_TOKEN").kind == KeyKind::none);
  CHECK(keys.classify("zug").kind == KeyKind::secret);
  CHECK(keys.classify("other_token").is_secret());
}
