#include "redact/key_class.hpp"

#include <algorithm>
#include <cstring>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/word_set.hpp"

namespace triage::redact {
namespace {

using Words = std::vector<std::string>;

// Values of these are passwords whatever they look like.
constexpr auto k_password =
    words("password", "passwd", "passphrase", "passwort", "passcode", "pass", "pwd", "passw", "psw",
          "pswd", "requirepass", "masterauth", "sshpass", "userpass", "rootpass", "dbpass",
          "keypass", "storepass", "passin", "passout", "kennwort", "motdepasse", "contrasena", "pw",
          "bindpw", "rootpw", "userpw", "dbpw", "otp", "totp", "otac", "authtok");
// Values of these are secrets.
constexpr auto k_secret =
    words("secret", "secrets", "credential", "credentials", "cred", "creds", "apikey", "apikeys",
          "passkey", "psk", "mnemonic", "jwt", "jws", "keytab", "connstr", "dockerconfigjson",
          "dockercfg", "htpasswd", "secretkey", "accesskey", "privatekey", "authkey", "sharedkey",
          "masterkey", "signingkey", "sas", "assertion");
constexpr auto k_token =
    words("token", "bearer", "authtoken", "accesstoken", "refreshtoken", "idtoken", "bottoken",
          "sessiontoken", "apitoken", "csrftoken", "csrfmiddlewaretoken", "xsrf", "csrf", "pat",
          "oauthtoken", "identitytoken", "registrytoken", "bearertoken", "jointoken");
constexpr auto k_if_random =
    words("session", "sid", "sessionid", "sessid", "phpsessid", "jsessionid", "sig", "signature",
          "hmac", "ticket", "nonce", "tgt", "saml", "samlresponse", "license", "invite", "auth",
          "salt", "pepper");

// `key` is a secret after these, and something else after those.
constexpr auto k_key_of_secret = words(
    "api", "access", "secret", "private", "account", "auth", "app", "application", "signing",
    "sign", "encryption", "encrypt", "decryption", "decrypt", "master", "service", "shared",
    "admin", "client", "subscription", "license", "ssh", "deploy", "tls", "ssl", "session",
    "consumer", "user", "integration", "ingest", "ingestion", "write", "publishable", "hmac", "aes",
    "rsa", "ecdsa", "cipher", "jwt", "fernet", "cookie", "webhook", "sas", "root", "sentry",
    "datadog", "dd", "wandb", "openai", "anthropic", "hf", "huggingface", "ngc", "nvidia", "google",
    "gemini", "azure", "cohere", "mistral", "groq", "together", "fireworks", "replicate",
    "langchain", "langsmith", "langfuse", "pinecone", "weaviate", "qdrant", "tavily", "serper",
    "serpapi", "perplexity", "xai", "deepseek", "elevenlabs", "assemblyai", "deepgram", "twilio",
    "sendgrid", "mailgun", "postmark", "stripe", "honeycomb", "newrelic", "relic", "rollbar",
    "bugsnag", "grafana", "pagerduty", "opsgenie", "supabase", "litellm", "virtual", "provider",
    "bot", "device", "host", "server", "wireguard", "preshared", "backup", "vault", "unseal",
    "recovery", "registry", "minio", "s3", "gcs", "upstream", "backend", "proxy", "router",
    "gateway", "tenant", "customer", "team", "x", "functions", "function", "rapidapi");
constexpr auto k_key_of_other =
    words("public", "pub", "gpg", "pgp", "cache", "partition", "foreign", "sort", "hash", "row",
          "map", "json", "yaml", "dict", "object", "label", "topology", "toleration", "node",
          "affinity", "lookup", "idempotency", "dedup", "shard", "group", "batch", "metric",
          "config", "kv", "attention", "query", "rank", "feature", "translation", "message",
          "event", "index", "state", "block", "prefix", "hot", "arrow", "max", "min", "sorting",
          "pkey", "k8s", "selector", "domain");

// After these a credential's name speaks of something else: `token_limit`, `secret_name`.
constexpr auto k_other_thing = words(
    "path", "paths", "file", "files", "filename", "dir", "directory", "name", "names", "ref",
    "refs", "type", "types", "kind", "mode", "version", "limit", "limits", "budget", "count",
    "counts", "counter", "len", "length", "lengths", "size", "max", "min", "num", "rate", "usage",
    "total", "ttl", "expiry", "expires", "expiration", "expire", "exp", "age", "timeout",
    "interval", "period", "scope", "scopes", "status", "valid", "validity", "enabled", "enable",
    "disabled", "disable", "required", "provider", "class", "format", "algorithm", "alg", "header",
    "headers", "prefix", "suffix", "pattern", "policy", "rotation", "source", "store", "manager",
    "mount", "volume", "endpoint", "endpoints", "port", "issuer", "audience", "method", "namespace",
    "parallelism", "cost", "costs", "price", "bucket", "buckets", "sum", "throughput", "latency",
    "per", "second", "seconds", "sec", "ms", "quota", "window", "index", "idx", "pos", "offset",
    "position", "positions", "mask", "cache", "field", "label", "env", "var", "variable",
    "template", "strategy", "error", "errors", "failure", "failures", "found", "missing", "exists",
    "invalid", "mismatch", "generation", "generator", "encryption", "engine", "hint", "alias",
    "url", "uri", "urls", "lookup", "layout", "vocab", "embedding", "embeddings", "ratio",
    "percent", "usec", "time", "created", "duration", "budgets", "pool", "queue", "process",
    "processing", "processor", "parser", "reader", "writer", "handler", "helper", "service",
    "server", "client", "controller", "driver", "plugin", "module", "model", "models", "gen",
    "id_count", "range", "step", "steps", "group", "groups", "owner", "encoding", "location",
    "keyring", "backend", "selector", "spec", "schema", "authentication", "failed", "needed", "set",
    "changed", "revision", "accessor", "arn", "fingerprint", "fingerprints", "digest", "checksum",
    "sha256", "sha1", "md5", "budgeting", "estimate", "stdin");

// Before `token(s)`: it counts, or it is a token of the vocabulary.
constexpr auto k_counted_token = words(
    "max", "min", "num", "n", "total", "prompt", "completion", "new", "cached", "input", "output",
    "reasoning", "generated", "generation", "avg", "batched", "special", "stop", "bos", "eos",
    "pad", "unk", "sep", "cls", "image", "audio", "video", "prefill", "decode", "draft", "accepted",
    "per", "used", "free", "remaining", "running", "waiting", "retracted", "kv", "first", "next",
    "last", "skip", "add", "ignore", "include", "thinking", "rejected", "chunked", "truncate",
    "delimiter", "text", "vision", "sampled", "speculative", "inter", "time", "each", "of", "beam",
    "budget", "context", "req", "request", "mm", "placeholder", "think", "begin", "end", "start",
    "tool", "evicted", "reused", "padded", "real", "extend", "tpot");

// Content.
constexpr auto k_prompt =
    words("prompt", "prompts", "utterance", "instruction", "instructions", "question", "questions",
          "human", "userprompt", "systemprompt", "persona", "preamble");
constexpr auto k_output = words("completion", "completions", "answer", "answers", "generated",
                                "reasoning", "thinking", "reply", "replies", "hypothesis");
constexpr auto k_document = words("passage", "passages", "snippet", "snippets", "transcript",
                                  "transcription", "excerpt", "conversation", "dialogue", "dialog");
constexpr auto k_maybe =
    words("text", "texts", "content", "contents", "input", "inputs", "output", "outputs", "query",
          "queries", "q", "response", "responses", "body", "document", "documents", "doc", "docs",
          "context", "contexts", "chunk", "chunks", "arguments", "message", "messages", "summary",
          "delta", "payload", "history", "caption", "subject", "note", "notes", "comment", "suffix",
          "choices", "search", "request", "hits", "matches", "observation", "thought", "sentence",
          "sentences", "paragraph", "title", "description", "quote", "quotes", "highlight",
          "highlights", "blurb");
// Names that programs and persons use alike: content when sentences stand there that no program
// writes.
constexpr auto k_perhaps =
    words("args", "article", "ask", "bio", "bot", "agent", "chat", "claim", "comment", "comments",
          "complaint", "decoded", "essay", "evidence", "expected", "explanation", "fact",
          "feedback", "generation", "goal", "gold", "greeting", "heading", "headline", "joke",
          "label", "letter", "memo", "memory", "note", "notes", "objective", "opinion", "original",
          "page", "partial", "phrase", "plan", "poem", "prediction", "prefix", "rationale",
          "reference", "rendered", "review", "rewritten", "said", "script", "sms", "source",
          "speech", "statement", "story", "subject", "subtitle", "subtitles", "summary", "target",
          "task", "template", "title", "topic", "translation", "truth", "turn", "turns", "words");
// Words before `message`, `text` and the like that say whose words they are.
constexpr auto k_speaker = words(
    "user", "system", "assistant", "human", "ai", "bot", "customer", "chat", "model", "llm", "last",
    "agent", "tool", "retrieved", "page", "generated", "completion", "prompt", "negative", "final",
    "raw", "first", "developer", "rag", "ocr", "transcribed", "source", "rewritten", "search",
    "original", "initial", "reasoning", "thinking", "cited", "quoted", "highlighted", "matched");
// After these a content word speaks of a measure or a setting.
constexpr auto k_about_content = words(
    "len", "length", "lengths", "tokens", "token", "count", "id", "ids", "logprobs", "logprob",
    "embeds", "embed", "embedding", "embeddings", "adapter", "throughput", "lookup", "cache",
    "caching", "size", "time", "ms", "hash", "name", "names", "version", "format", "type",
    "processing", "chars", "words", "bytes", "digest", "rate", "latency", "index", "idx", "limit",
    "max", "min", "shape", "dtype", "device", "dim", "path", "file", "dir", "url", "uri", "code",
    "status", "headers", "header", "eval", "seconds", "usage", "cost", "created", "truncated",
    "total", "sum", "bucket", "language", "lang", "model", "class", "mode", "timeout", "queue",
    "num", "n", "role", "score", "scores", "tps", "ratio", "enabled", "disabled", "cached");

bool any_word(const Words& all, std::string_view word) {
  return std::find(all.begin(), all.end(), word) != all.end();
}

template <class Set>
bool any_before(const Words& all, std::size_t end, const Set& set) {
  for (std::size_t i = 0; i < end; ++i)
    if (set.has(all[i])) return true;
  return false;
}

template <class Set>
bool any_after(const Words& all, std::size_t at, const Set& set) {
  for (std::size_t i = at + 1; i < all.size(); ++i)
    if (set.has(all[i])) return true;
  return false;
}

bool ends_with_password(std::string_view word) {
  static constexpr std::array<std::string_view, 8> k_ends{
      "password", "passwd", "passphrase", "pwd", "secret", "apikey", "authtoken", "accesstoken"};
  static constexpr auto k_no_password =
      words("bypass", "compass", "encompass", "lowpass", "highpass", "bandpass", "trespass",
            "surpass", "multipass", "singlepass", "onepass", "twopass");
  if (word.ends_with("pass")) return !k_no_password.has(word);
  return std::any_of(k_ends.begin(), k_ends.end(), [&](std::string_view end) {
    return word.size() > end.size() && word.ends_with(end);
  });
}

KeyClass exact(std::string_view joined) {
  struct Row {
    std::string_view name;
    KeyKind kind;
    What what;
  };
  // Sorted by nothing: looked at once for each distinct key.
  static constexpr auto k_rows = std::to_array<Row>({
      {"name", KeyKind::name, What::secret},
      {"headername", KeyKind::name, What::secret},
      {"header", KeyKind::name, What::secret},
      {"variable", KeyKind::name, What::secret},
      {"varname", KeyKind::name, What::secret},
      {"envname", KeyKind::name, What::secret},
      {"attribute", KeyKind::name, What::secret},
      {"property", KeyKind::name, What::secret},
      {"param", KeyKind::name, What::secret},
      {"parameter", KeyKind::name, What::secret},
      {"k", KeyKind::name, What::secret},
      {"value", KeyKind::value, What::secret},
      {"val", KeyKind::value, What::secret},
      {"v", KeyKind::value, What::secret},
      {"stringvalue", KeyKind::value, What::secret},
      {"arrayvalue", KeyKind::value, What::secret},
      {"kvlistvalue", KeyKind::value, What::secret},
      {"values", KeyKind::value, What::secret},
      {"defaultvalue", KeyKind::value, What::secret},
      {"currentvalue", KeyKind::value, What::secret},
      {"role", KeyKind::role, What::text},
      {"from", KeyKind::role, What::text},
      {"speaker", KeyKind::role, What::text},
      {"key", KeyKind::key, What::token},
      {"authorization", KeyKind::auth, What::token},
      {"proxyauthorization", KeyKind::auth, What::token},
      {"httpauthorization", KeyKind::auth, What::token},
      {"authheader", KeyKind::auth, What::token},
      {"xforwardedauthorization", KeyKind::auth, What::token},
      {"xauthorization", KeyKind::auth, What::token},
      {"authenticationinfo", KeyKind::none, What::token},
      {"cookie", KeyKind::cookie, What::cookie},
      {"setcookie", KeyKind::cookie, What::cookie},
      {"cookies", KeyKind::cookie, What::cookie},
      {"httpcookie", KeyKind::cookie, What::cookie},
      {"basic", KeyKind::pair, What::password},
      {"basicauth", KeyKind::pair, What::password},
      {"httpauth", KeyKind::pair, What::password},
      {"userpwd", KeyKind::pair, What::password},
      {"auths", KeyKind::none, What::token},
      {"data", KeyKind::value, What::secret},
      {"inlinestring", KeyKind::value, What::secret},
      {"inlinebytes", KeyKind::value, What::secret},
      {"xhoneycombteam", KeyKind::secret, What::token},
      {"arguments", KeyKind::arguments, What::output},
      {"toolinput", KeyKind::arguments, What::output},
      {"toolargs", KeyKind::arguments, What::output},
      {"toolarguments", KeyKind::arguments, What::output},
      {"toolparameters", KeyKind::arguments, What::output},
      {"functionargs", KeyKind::arguments, What::output},
      {"actioninput", KeyKind::arguments, What::output},
      {"toolcallargs", KeyKind::arguments, What::output},
      {"ai", KeyKind::content, What::output},
      {"assistant", KeyKind::content, What::output},
      {"chatbot", KeyKind::content, What::output},
      {"finalanswer", KeyKind::content, What::output},
      {"system", KeyKind::maybe_text, What::prompt},
      {"developer", KeyKind::maybe_text, What::prompt},
      {"parts", KeyKind::maybe_text, What::text},
      {"erlangcookie", KeyKind::secret, What::secret},
      {"rabbitmqerlangcookie", KeyKind::secret, What::secret},
      {"auth", KeyKind::if_random, What::token},
      {"access", KeyKind::if_random, What::token},  // beside `refresh`, as log-ins answer
      {"refresh", KeyKind::if_random, What::token},
      {"inputids", KeyKind::token_ids, What::token_ids},
      {"ids", KeyKind::pieces, What::token_ids},
      {"secret", KeyKind::token, What::secret},
      {"secrets", KeyKind::token, What::secret},
      {"credential", KeyKind::token, What::secret},
      {"credentials", KeyKind::token, What::secret},
      {"finalmessage", KeyKind::perhaps_text, What::text},  // of cloud-init as well as of agents
      {"textinput", KeyKind::content, What::prompt},
      {"textoutput", KeyKind::content, What::output},
      {"string", KeyKind::maybe_text, What::text},
      {"tokenids", KeyKind::token_ids, What::token_ids},
      {"outputids", KeyKind::token_ids, What::token_ids},
      {"originputids", KeyKind::token_ids, What::token_ids},
      {"originputid", KeyKind::token_ids, What::token_ids},
      {"inputid", KeyKind::token_ids, What::token_ids},
      {"labels", KeyKind::none, What::text},
      {"tokens", KeyKind::pieces, What::text},
      {"user", KeyKind::user, What::user},
      {"username", KeyKind::user, What::user},
      {"login", KeyKind::user, What::user},
      {"logname", KeyKind::user, What::user},
      {"userid", KeyKind::user, What::user},
      {"useremail", KeyKind::user, What::user},
      {"email", KeyKind::user, What::user},
      {"emailaddress", KeyKind::user, What::user},
      {"mail", KeyKind::user, What::user},
      {"enduser", KeyKind::user, What::user},
      {"enduserid", KeyKind::user, What::user},
      {"upn", KeyKind::user, What::user},
      {"userprincipalname", KeyKind::user, What::user},
      {"preferredusername", KeyKind::user, What::user},
      {"fullname", KeyKind::user, What::user},
      {"displayname", KeyKind::user, What::user},
      {"firstname", KeyKind::user, What::user},
      {"lastname", KeyKind::user, What::user},
      {"givenname", KeyKind::user, What::user},
      {"familyname", KeyKind::user, What::user},
      {"submittedby", KeyKind::user, What::user},
      {"createdby", KeyKind::user, What::user},
      {"requestedby", KeyKind::user, What::user},
      {"remoteuser", KeyKind::user, What::user},
      {"sudouser", KeyKind::user, What::user},
      {"authuser", KeyKind::user, What::user},
      {"acct", KeyKind::user, What::user},
      {"nodename", KeyKind::host, What::host},
      {"hostname", KeyKind::host, What::host},
      {"fqdn", KeyKind::host, What::host},
  });
  for (const Row& row : k_rows)
    if (row.name.size() == joined.size() && row.name[0] == joined[0] && row.name == joined)
      return {row.kind, row.what};
  return {};
}

/// `identitytoken`, `licensekey`: one word in which a credential's name ends.
bool ends_with_credential(std::string_view word) {
  static constexpr std::array<std::string_view, 12> k_others{
      "public",  "pub", "cache", "hash", "sort", "partition",
      "foreign", "max", "min",   "eos",  "new",  "prompt"};
  for (const std::string_view other : k_others)
    if (word.starts_with(other)) return false;
  return (word.size() > 7 && word.ends_with("token")) || (word.size() > 6 && word.ends_with("key"));
}

/// The credential part of a name, or none.
KeyClass secret_class(const Words& all) {
  const std::size_t n = all.size();
  // `pullSecrets`, `existingSecret`: which object holds it.
  if (n > 1 && (all[n - 1] == "secret" || all[n - 1] == "secrets") &&
      (all[n - 2] == "pull" || all[n - 2] == "existing" || all[n - 2] == "inject"))
    return {};
  // `checksum/secret`: of what a deployment mounts, so that a change restarts it.
  if (n > 1 && all[0] == "checksum") return {};
  for (std::size_t back = 0; back < n; ++back) {
    const std::size_t i = n - 1 - back;
    const std::string& word = all[i];
    const auto followed_by_other = [&] { return any_after(all, i, k_other_thing); };
    // `PassEnvironment=`, `pass_through`: handed on, unless it is a word, a phrase or a key.
    if (word == "pass" && i == 0 && n > 1 && all[1] != "word" && all[1] != "phrase" &&
        all[1] != "code" && all[1] != "key")
      return {};
    if (k_password.has(word) || (word.size() > 4 && ends_with_password(word))) {
      if (followed_by_other()) return {};
      return {KeyKind::secret, What::password};
    }
    // `ADMIN_PIN`, not `CPU_PIN`.
    static constexpr auto k_pinned =
        words("cpu", "gpu", "core", "cores", "numa", "thread", "threads", "irq", "gpio", "power");
    if (word == "pin" && i > 0 && i + 1 == n && !k_pinned.has(all[i - 1]))
      return {KeyKind::secret, What::password};
    if (k_secret.has(word)) {
      if (followed_by_other()) return {};
      if (i > 0 && all[i - 1] == "inject") return {};  // `agent-inject-secret-db`: where it lies
      // A secret's id: Vault's secret_id is one, a name is not.
      if (i + 1 < n && all[i + 1] == "id") return {KeyKind::if_random, What::secret};
      if (word == "sas" && n == 1) return {KeyKind::if_random, What::secret};
      return {KeyKind::secret, What::secret};
    }
    if (word == "key" || word == "keys") {
      if (followed_by_other()) return {};
      if (i > 0 && k_key_of_other.has(all[i - 1])) return {};
      if (any_before(all, i, k_key_of_other) && !(i > 0 && k_key_of_secret.has(all[i - 1])))
        return {};
      const bool sure = i > 0 && k_key_of_secret.has(all[i - 1]);
      if (i + 1 < n && all[i + 1] == "data") return {KeyKind::encoded, What::private_key};
      if (i + 1 < n && all[i + 1] == "id") {
        const bool credential =
            any_word(all, "private") || any_word(all, "access") || any_word(all, "secret");
        return credential ? KeyClass{KeyKind::if_random, What::token} : KeyClass{};
      }
      if (i + 1 < n && all[i + 1] == "pair") return {};
      if (sure) return {KeyKind::secret, What::token};
      return {KeyKind::if_random, What::token};
    }
    if (k_token.has(word)) {
      if (word == "pat" && n > 3) continue;
      if (followed_by_other() || any_before(all, i, k_counted_token)) return {};
      return {KeyKind::token, What::token};
    }
    // SNMP: `AgentCommunity`, `community_string`.
    if (word == "community" && (i + 1 == n || (i + 2 == n && all[i + 1] == "string")))
      return {KeyKind::token, What::password};
    if (word == "tokens" && i + 1 == n && n > 1) {
      static constexpr auto k_held =
          words("api", "access", "refresh", "auth", "bearer", "hf", "secret", "bot", "admin");
      return k_held.has(all[i - 1]) ? KeyClass{KeyKind::token, What::token} : KeyClass{};
    }
    if (word == "certificate" && i + 1 < n && all[i + 1] == "data" && any_word(all, "client"))
      return {KeyKind::encoded, What::secret};
    if (word == "code" && i > 0 && i + 1 == n &&
        (all[i - 1] == "auth" || all[i - 1] == "authorization" || all[i - 1] == "verification" ||
         all[i - 1] == "device" || all[i - 1] == "otp"))
      return {KeyKind::token, What::token};
    if (word == "authorization" && i + 1 == n) return {KeyKind::auth, What::token};
    if (word == "cookie" && i + 1 == n) return {KeyKind::cookie, What::cookie};
    if (i + 1 == n && ends_with_credential(word)) return {KeyKind::if_random, What::token};
    if (k_if_random.has(word)) {
      if (followed_by_other()) return {};
      if (word == "license" && i + 1 == n) return {};
      const bool cookie = word == "session" || word == "sid" || word.ends_with("sessid") ||
                          word.ends_with("sessionid");
      // `salt_id` tells salts apart and gives none away; a session's id is the session.
      const bool told_apart = word == "salt" || word == "pepper";
      const bool saml =
          word == "saml" && i + 1 < n &&
          (all[i + 1] == "response" || all[i + 1] == "assertion" || all[i + 1] == "request");
      if (saml || i + 1 == n || (all[i + 1] == "id" && !told_apart) || all[i + 1] == "value")
        return {KeyKind::if_random, cookie ? What::cookie : What::token};
      return {};
    }
    if (word == "webhook" && i + 1 == n) return {KeyKind::if_random, What::secret};
  }
  return {};
}

What side_of(const Words& all, What otherwise) {
  for (const std::string& word : all) {
    if (word == "user" || word == "human" || word == "system" || word == "prompt" ||
        word == "input" || word == "query" || word == "question" || word == "request" ||
        word == "q" || word == "customer" || word == "instructions" || word == "inputs")
      return What::prompt;
    if (word == "assistant" || word == "output" || word == "outputs" || word == "response" ||
        word == "generated" || word == "completion" || word == "reply" || word == "answer" ||
        word == "delta" || word == "ai" || word == "bot" || word == "reasoning" ||
        word == "choices")
      return What::output;
    if (word == "document" || word == "documents" || word == "doc" || word == "docs" ||
        word == "page" || word == "chunk" || word == "chunks" || word == "passage" ||
        word == "context" || word == "retrieved" || word == "snippet" || word == "contexts" ||
        word == "passages" || word == "hits" || word == "matches")
      return What::document;
  }
  return otherwise;
}

/// The content part of a name, or none.
KeyClass content_class(const Words& all) {
  const std::size_t n = all.size();
  if (n == 0) return {};
  const std::string& last = all.back();
  // `the prompt was`: the verb is no head.
  if (n > 1 && (last == "was" || last == "is" || last == "were" || last == "are" ||
                last == "string" || last == "value" || last == "preview" || last == "sample" ||
                last == "dump" || last == "received" || last == "sent" || last == "formatting" ||
                last == "after" || last == "before" || last == "used"))
    return content_class(Words(all.begin(), all.end() - 1));
  if (n > 1 && (last == "ids" || last == "id")) {
    static constexpr auto k_of_tokens =
        words("token", "tokens", "input", "output", "prompt", "completion", "generated", "decoder",
              "orig", "fill", "draft", "sampled");
    // Tokens of the vocabulary with a meaning of their own are settings.
    static constexpr auto k_of_vocabulary =
        words("eos", "bos", "pad", "stop", "unk", "special", "bad", "forced", "suppress", "sep",
              "mask", "image", "audio", "video", "start", "end", "begin", "type", "cls");
    if (any_before(all, n, k_of_vocabulary)) return {};
    const bool of_tokens = k_of_tokens.has(all[n - 2]);
    const bool ids = last == "ids" && (of_tokens || any_word(all, "token"));
    const bool one = all[n - 2] == "token" && n > 2 && k_of_tokens.has(all[n - 3]);
    if (ids || one) return {KeyKind::token_ids, What::token_ids};
    return {};
  }
  if (last == "tokens" && n > 1) {
    static constexpr auto k_counting =
        words("num", "n", "max", "min", "total", "count", "per", "avg", "mean", "sum");
    if (any_before(all, n - 1, k_counting)) return {};
    // As a list these are ids; as a number, a count: the value decides.
    return {KeyKind::token_ids, What::token_ids};
  }
  if (k_about_content.has(last)) return {};
  // `prompt.txt`: a file in a ConfigMap.
  static constexpr auto k_of_files = words("txt", "md", "tmpl", "jinja", "jinja2", "j2");
  if (n > 1 && k_of_files.has(last)) {
    const KeyClass named = content_class(Words(all.begin(), all.end() - 1));
    return named.kind == KeyKind::content ? named : KeyClass{};
  }
  // `--chat-system`, `override_system`.
  if (n > 1 && last == "system") {
    static constexpr auto k_given = words("chat", "override", "default", "model", "custom", "llm");
    return k_given.has(all[n - 2]) ? KeyClass{KeyKind::content, What::prompt} : KeyClass{};
  }
  // `nginx.ingress.kubernetes.io/configuration-snippet`: directives.
  if (n > 1 && last == "snippet") {
    static constexpr auto k_configured =
        words("configuration", "config", "server", "location", "http", "stream", "main", "auth");
    if (k_configured.has(all[n - 2])) return {};
  }
  const bool spoken = n > 1 && k_speaker.has(all[n - 2]);
  if (k_prompt.has(last)) return {KeyKind::content, What::prompt};
  if (k_output.has(last)) return {KeyKind::content, What::output};
  if (k_document.has(last)) return {KeyKind::content, What::document};
  static constexpr auto k_collections = words("templates", "library");
  if (n > 1 && k_collections.has(last) && k_prompt.has(all[n - 2]))
    return {KeyKind::content, What::prompt};
  // `GUARD_POLICY`: what a model must refuse.
  static constexpr auto k_guards = words("guard", "guardrail", "safety", "refusal", "moderation",
                                         "answer", "response", "persona", "conversation");
  if (n > 1 && (last == "policy" || last == "rules") && k_guards.has(all[n - 2]))
    return {KeyKind::perhaps_text, What::prompt};
  if (last == "template" && n > 1 && all[n - 2] == "prompt")
    return {KeyKind::maybe_text, What::prompt};
  if (k_maybe.has(last)) {
    if (n > 1 && (all[0] == "error" || all[0] == "err" || all[n - 2] == "error" ||
                  all[n - 2] == "log" || all[n - 2] == "status" || all[n - 2] == "event" ||
                  all[n - 2] == "commit" || all[n - 2] == "job" || all[n - 2] == "build"))
      return {};
    if (last == "message" || last == "messages" || last == "title" || last == "description" ||
        last == "subject" || last == "request" || last == "search" || last == "note" ||
        last == "notes" || last == "comment" || last == "summary" || last == "suffix" ||
        last == "history" || last == "delta" || last == "choices") {
      if (!spoken && last != "messages" && last != "choices" && last != "delta")
        return k_perhaps.has(last) ? KeyClass{KeyKind::perhaps_text, side_of(all, What::text)}
                                   : KeyClass{};
    }
    const What what = side_of(all, What::text);
    return {spoken ? KeyKind::content : KeyKind::maybe_text, what};
  }
  if (n > 1 && (last == "said" || last == "asked" || last == "wrote"))
    return {KeyKind::content, What::prompt};
  if (k_perhaps.has(last)) return {KeyKind::perhaps_text, side_of(all, What::text)};
  return {};
}

}  // namespace

std::string_view bare_key(std::string_view word) {
  if (word.starts_with("checksum/")) return {};
  const auto slash = word.rfind('/');
  if (slash != std::string_view::npos && slash + 1 < word.size()) word.remove_prefix(slash + 1);
  while (!word.empty() && !is_alnum(word.front()) && !is_high(word.front())) word.remove_prefix(1);
  static constexpr ByteSet k_not_in_keys("@%");
  return k_not_in_keys.any_in(word) ? std::string_view() : word;
}

std::vector<std::string> key_words(std::string_view key) {
  Words out;
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) out.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t i = 0; i < key.size(); ++i) {
    const char c = key[i];
    if (is_upper(c)) {
      const bool after_lower = i > 0 && (is_lower(key[i - 1]) || is_digit(key[i - 1]));
      const bool before_lower =
          i > 0 && is_upper(key[i - 1]) && i + 1 < key.size() && is_lower(key[i + 1]);
      if (after_lower || before_lower) flush();
      word += static_cast<char>(c - 'A' + 'a');
    } else if (is_lower(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80) {
      word += c;
    } else {
      flush();
    }
  }
  flush();
  // `key1`, `token2`: one of several.
  for (std::string& w : out) {
    const auto letters = w.find_last_not_of("0123456789");
    if (letters == std::string::npos || letters + 1 == w.size()) continue;
    const std::string_view stem = std::string_view(w).substr(0, letters + 1);
    for (const std::string_view name : {"key", "token", "password", "secret", "pass", "prompt"})
      if (stem == name) {
        w.resize(stem.size());
        break;
      }
  }
  return out;
}

KeyClassifier::KeyClassifier() = default;

void KeyClassifier::add(std::string_view key, KeyClass result) {
  std::string joined;
  for (const std::string& word : key_words(key)) joined += word;
  added_.emplace_back(std::move(joined), result);
}

KeyClass KeyClassifier::classify(std::string_view key) const {
  static constexpr auto k_phrase_ends =
      words("provided", "supplied", "given", "used", "value", "key", "issued", "returned",
            "generated", "was", "is", "were", "are", "received", "sent", "formatting", "said",
            "asked", "dump", "preview", "message", "text", "input", "output", "content", "query",
            "response", "context", "documents", "document", "chunk", "messages", "arguments",
            "request", "summary", "replied", "before", "after", "responded", "answered", "says",
            "asks", "wrote", "llm", "assistant", "agent");
  KeyClass found = class_of_name(key);
  found.ends_phrase = key.size() <= 10 && k_phrase_ends.has(base::to_lower(key));
  return found;
}

bool names_function(std::string_view key) {
  static constexpr auto k_of_texts =
      words("additional", "agent", "answer", "assistant", "chat", "conversation", "customer", "doc",
            "document", "extra", "final", "full", "generated", "input", "llm", "message", "model",
            "output", "page", "prompt", "query", "question", "rag", "raw", "request", "response",
            "retrieved", "search", "system", "tool", "user");
  if (key.size() > 1 && key[0] == '_' && key.find('_', 1) != std::string_view::npos) return true;
  const auto joint = key.find('_');
  return joint != std::string_view::npos && joint > 0 && !k_of_texts.has(key.substr(0, joint)) &&
         std::all_of(key.begin(), key.end(),
                     [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
}

KeyClass KeyClassifier::class_of_name(std::string_view key) const {
  if (key.empty() || key.size() > 128) return {};
  const Words all = key_words(key);
  if (all.empty() || all.size() > 12) return {};
  std::string joined;
  for (const std::string& word : all) joined += word;
  for (const auto& [name, result] : added_)
    if (name == joined) return result;
  // `*v1.Secret: failed to list`: a type of Go.
  if (key.size() > 4 && key[0] == 'v' && is_digit(key[1])) {
    const auto dot = key.find('.');
    if (dot != std::string_view::npos && dot + 1 < key.size() && is_upper(key[dot + 1])) return {};
  }
  if (joined == "textpayload") return {};                // Google Cloud: the line of a log
  if (joined == "logname" && all.size() > 1) return {};  // of a log, not of who has logged in
  if (const KeyClass found = exact(joined); found.kind != KeyKind::none) return found;
  if (const KeyClass secret = secret_class(all); secret.kind != KeyKind::none) return secret;
  if (const KeyClass content = content_class(all); content.kind != KeyKind::none) return content;
  // What a dotted or prefixed name ends in: `openai.user`, `owner.acme/email`.
  if (all.size() > 1) {
    const std::string& last = all.back();
    const bool neutral_user = last == "user" && (all[all.size() - 2] == "per" || all[0] == "run");
    if ((last == "user" && !neutral_user) || last == "username" || last == "email" ||
        last == "login")
      return {KeyKind::user, What::user};
    const std::string pair = all[all.size() - 2] + last;
    if (pair == "nodename" || pair == "hostname" || last == "hostname" || last == "fqdn")
      return {KeyKind::host, What::host};
    if (pair == "userid" || pair == "useremail" || pair == "username")
      return {KeyKind::user, What::user};
  }
  if (all.size() == 1 && (all[0] == "host" || all[0] == "node")) return {KeyKind::host, What::host};
  return {};
}

namespace {

template <class Word>
Word word_at(const char* at) {
  Word word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Of the first and last eight bytes and the length: what lies between seldom tells keys apart.
std::size_t hash_of(std::string_view key) {
  const char* const data = key.data();
  const std::size_t size = key.size();
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (size >= 8) {
    first = word_at<std::uint64_t>(data);
    last = word_at<std::uint64_t>(data + size - 8);
  } else if (size >= 4) {
    first = word_at<std::uint32_t>(data);
    last = word_at<std::uint32_t>(data + size - 4);
  } else if (size > 0) {
    first = static_cast<unsigned char>(data[0]);
    last = std::uint64_t{static_cast<unsigned char>(data[size / 2])} << 8U |
           static_cast<unsigned char>(data[size - 1]);
  }
  std::uint64_t hash = (first + size) * 0x9E3779B97F4A7C15U ^ last * 0xC2B2AE3D27D4EB4FU;
  hash ^= hash >> 29U;
  return static_cast<std::size_t>(hash * 0x9E3779B97F4A7C15U >> 40U);
}

/// Keys are short: a call of memcmp takes longer than to compare them.
bool same(const char* a, const char* b, std::size_t size) {
  std::size_t at = 0;
  for (; at + 8 <= size; at += 8)
    if (word_at<std::uint64_t>(a + at) != word_at<std::uint64_t>(b + at)) return false;
  for (; at < size; ++at)
    if (a[at] != b[at]) return false;
  return true;
}

}  // namespace

KeyClass KeyCache::classify(std::string_view key) {
  if (key.size() > k_longest) return classifier_->classify(key);
  const auto holds = [&](const Slot& slot) {
    return slot.length == key.size() && same(slot.key.data(), key.data(), key.size());
  };
  // Two places for each key: the second keeps what the first gave away.
  const std::size_t place = hash_of(key) % slots_.size();
  Slot& slot = slots_[place];
  if (!holds(slot)) {
    Slot& second = slots_[place ^ 1U];
    if (holds(second)) return second.result;
    second = slot;
    if (++misses_ > slots_.size() && slots_.size() < k_most_slots) {
      misses_ = 0;
      slots_.assign(slots_.size() * 8, Slot{});
      return classify(key);
    }
    slot.length = static_cast<std::uint8_t>(key.size());
    std::memcpy(slot.key.data(), key.data(), key.size());
    slot.result = classifier_->classify(key);
  }
  return slot.result;
}

}  // namespace triage::redact
