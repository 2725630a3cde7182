#include "redact/token_formats.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "redact/values.hpp"

namespace triage::redact {
namespace {

/// Alphabets of token bodies.
enum Chars : std::uint8_t {
  k_lower = 1,
  k_upper = 2,
  k_digit = 4,
  k_dash = 8,  ///< - and _
  k_dot = 16,
  k_plus = 32,  ///< + / =
  k_tilde = 64,
  k_colon = 128,
};
constexpr std::uint8_t k_alnum = k_lower | k_upper | k_digit;
constexpr std::uint8_t k_url = k_alnum | k_dash;
constexpr std::uint8_t k_base64 = k_alnum | k_plus;

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<std::size_t>(c)] = k_lower;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<std::size_t>(c)] = k_upper;
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<std::size_t>(c)] = k_digit;
  classes['-'] = classes['_'] = k_dash;
  classes['.'] = k_dot;
  classes['+'] = classes['/'] = classes['='] = k_plus;
  classes['~'] = k_tilde;
  classes[':'] = k_colon;
  return classes;
}
constexpr std::array<std::uint8_t, 256> k_classes = make_classes();

struct Format {
  std::string_view prefix;
  std::uint8_t chars;
  std::uint16_t shortest;  ///< of the body
  std::uint16_t full;      ///< length of a whole body; shorter at a line's end: wrapped. 0: unknown
  bool random;             ///< the prefix alone is no proof: the body must look generated
};

/// Sources: the vendors' own secret-scanning notes; lengths as issued today.
constexpr auto k_formats = std::to_array<Format>({
    // Model providers and tools around them.
    {"sk-proj-", k_url, 20, 0, false},
    {"sk-svcacct-", k_url, 20, 0, false},
    {"sk-admin-", k_url, 20, 0, false},
    {"sk-ant-", k_url, 20, 0, false},
    {"sk-or-v1-", k_alnum, 20, 64, false},
    {"sk-lf-", k_url, 16, 36, false},
    {"sk-", k_url, 16, 0, true},
    {"sk_live_", k_alnum, 16, 0, false},
    {"sk_test_", k_alnum, 16, 0, false},
    {"sk_", k_url, 24, 0, true},
    {"rk_live_", k_alnum, 16, 0, false},
    {"rk_test_", k_alnum, 16, 0, false},
    {"pk-lf-", k_url, 16, 36, false},
    {"hf_", k_alnum, 30, 34, false},
    {"hf_oauth_", k_url | k_dot, 20, 0, false},
    {"api_org_", k_alnum, 24, 34, false},
    {"nvapi-", k_url, 24, 64, false},
    {"gsk_", k_alnum, 20, 52, false},
    {"r8_", k_alnum, 20, 37, false},
    {"xai-", k_url, 20, 80, false},
    {"pplx-", k_alnum, 20, 48, false},
    {"tvly-", k_url, 16, 0, true},
    {"lsv2_pt_", k_alnum | k_dash, 20, 43, false},
    {"lsv2_sk_", k_alnum | k_dash, 20, 43, false},
    {"ls__", k_alnum, 20, 32, false},
    {"wandb_v1_", k_url, 16, 0, false},
    {"csk-", k_alnum, 24, 48, true},
    {"fw_", k_alnum, 20, 0, true},
    {"tgp_v1_", k_url, 20, 0, false},
    {"jina_", k_url, 24, 0, true},
    {"pa-", k_url, 30, 0, true},
    {"fc-", k_alnum, 24, 0, true},
    {"rpa_", k_alnum, 24, 0, true},
    {"e2b_", k_alnum, 24, 0, true},
    {"phc_", k_alnum, 24, 0, true},
    {"phx_", k_alnum, 24, 0, true},
    {"key-", k_alnum, 24, 0, true},
    {"ak-", k_alnum, 20, 0, true},
    {"as-", k_alnum, 20, 0, true},
    // Code hosts and registries.
    {"ghp_", k_alnum, 30, 36, false},
    {"gho_", k_alnum, 30, 36, false},
    {"ghu_", k_alnum, 30, 36, false},
    {"ghs_", k_alnum, 30, 36, false},
    {"ghr_", k_alnum, 30, 36, false},
    {"github_pat_", k_url, 30, 82, false},
    {"glpat-", k_url | k_dot, 16, 20, false},
    {"glcbt-", k_url, 16, 0, false},
    {"gldt-", k_url, 16, 20, false},
    {"glrt-", k_url, 16, 20, false},
    {"glptt-", k_url, 16, 40, false},
    {"glagent-", k_url, 16, 50, false},
    {"glsoat-", k_url, 16, 20, false},
    {"glft-", k_url, 16, 20, false},
    {"glimt-", k_url, 16, 25, false},
    {"gloas-", k_url, 16, 64, false},
    {"npm_", k_alnum, 30, 36, false},
    {"pypi-AgE", k_url, 30, 0, false},
    {"dckr_pat_", k_url, 20, 27, false},
    {"dckr_oat_", k_url, 20, 32, false},
    {"rubygems_", k_alnum, 40, 48, false},
    {"ATATT3", k_url | k_plus, 40, 0, false},
    {"ATCTT3", k_url | k_plus, 40, 0, false},
    {"ATBB", k_alnum, 28, 32, true},
    {"sess-", k_alnum, 30, 40, true},
    {"pcsk_", k_url, 30, 0, false},
    {"pk-pk-", k_alnum | k_dash, 20, 0, true},
    {"sk-helicone-", k_url, 16, 0, false},
    {"secret_lambda_", k_alnum | k_dot, 20, 0, false},
    {"hcaik_", k_alnum, 30, 64, false},
    {"hcbik_", k_alnum, 30, 64, false},
    {"hcaic_", k_alnum, 30, 64, false},
    {"CCIPAT_", k_url, 30, 0, false},
    {"bkua_", k_alnum, 30, 40, false},
    {"AKCp", k_alnum, 50, 0, true},
    {"cmVmdGtu", k_alnum, 40, 0, true},
    {"sqp_", k_alnum, 40, 40, false},
    {"squ_", k_alnum, 40, 40, false},
    {"sqa_", k_alnum, 40, 40, false},
    {"rnd_", k_alnum, 24, 0, true},
    {"nfp_", k_alnum, 30, 0, true},
    {"cio", k_alnum, 32, 0, true},
    // Clouds.
    {"AKIA", k_upper | k_digit, 16, 16, false},
    {"ASIA", k_upper | k_digit, 16, 16, false},
    {"ABIA", k_upper | k_digit, 16, 16, false},
    {"ACCA", k_upper | k_digit, 16, 16, false},
    {"IQoJb3JpZ2luX2Vj", k_base64, 20, 0, false},
    {"FwoGZXIvYXdz", k_base64, 40, 0, false},
    {"ABSK", k_base64, 60, 0, true},
    {"AIza", k_url, 30, 35, false},
    {"ya29.", k_url | k_dot, 16, 0, false},
    {"GOCSPX-", k_url, 20, 28, false},
    {"1//0", k_url, 20, 0, false},
    {"1//", k_url, 30, 0, true},
    {"dop_v1_", k_alnum, 30, 64, false},
    {"doo_v1_", k_alnum, 30, 64, false},
    {"dor_v1_", k_alnum, 30, 64, false},
    {"dapi", k_alnum | k_dash, 32, 32, true},
    {"LTAI", k_alnum, 16, 0, true},
    {"AKID", k_alnum, 32, 32, true},
    {"pscale_tkn_", k_url, 20, 0, false},
    {"pscale_pw_", k_url, 20, 0, false},
    {"pscale_oauth_", k_url, 20, 0, false},
    {"sbp_", k_alnum, 30, 40, false},
    {"sb_secret_", k_url, 16, 0, false},
    {"tskey-", k_url, 16, 0, false},
    {"fo1_", k_url, 30, 43, true},
    {"FlyV1", k_base64, 60, 0, true},
    {"HRKU-", k_url, 30, 0, false},
    {"cfk_", k_url, 30, 0, true},
    // Secret stores and identity.
    {"hvs.", k_url, 16, 0, false},
    {"hvb.", k_url, 16, 0, false},
    {"hvr.", k_url, 16, 0, false},
    {"hvp.", k_url, 16, 0, false},
    {"sha256~", k_url, 40, 43, false},
    {"fm2_", k_base64, 40, 0, true},
    {"dt0s16.", k_upper | k_digit | k_dot, 60, 0, false},
    {"s.", k_alnum, 20, 24, true},
    {"b.", k_alnum, 20, 0, true},
    {"AGE-SECRET-KEY-1", k_upper | k_digit, 20, 58, false},
    {"ops_eyJ", k_url | k_plus, 40, 0, false},
    {"dp.pt.", k_alnum, 20, 43, false},
    {"dp.st.", k_url | k_dot, 20, 0, false},
    {"dp.ct.", k_alnum, 20, 43, false},
    {"SWMTKN-1-", k_alnum | k_dash, 30, 0, false},
    {"v2.local.", k_url | k_dot, 30, 0, false},
    {"v4.local.", k_url | k_dot, 30, 0, false},
    {"v4.public.", k_url | k_dot, 30, 0, false},
    {"Fe26.2*", k_url | k_dot, 30, 0, false},
    {"infisical_", k_url, 24, 0, true},
    // Observability, chat, work.
    {"glsa_", k_alnum | k_dash, 20, 41, false},
    {"glc_", k_base64, 24, 0, false},
    {"NRAK-", k_alnum, 20, 27, false},
    {"NRII-", k_url, 20, 0, false},
    {"NRRA-", k_alnum, 20, 0, false},
    {"NRJS-", k_alnum, 15, 19, false},
    {"sntryu_", k_alnum, 24, 64, false},
    {"sntrys_", k_url | k_plus, 24, 0, false},
    {"dd_", k_alnum, 30, 0, true},
    {"xoxb-", k_url, 20, 0, false},
    {"xoxa-", k_url, 20, 0, false},
    {"xoxp-", k_url, 20, 0, false},
    {"xoxr-", k_url, 20, 0, false},
    {"xoxs-", k_url, 20, 0, false},
    {"xoxc-", k_url, 20, 0, false},
    {"xoxd-", k_url | k_plus, 20, 0, false},
    {"xoxe.xox", k_url | k_dot, 20, 0, false},
    {"xoxe-", k_url, 20, 0, false},
    {"xapp-", k_url, 20, 0, false},
    {"lin_api_", k_alnum, 20, 40, false},
    {"lin_oauth_", k_alnum, 20, 64, false},
    {"secret_", k_alnum, 40, 43, true},
    {"ntn_", k_alnum, 30, 46, false},
    {"figd_", k_url, 20, 0, false},
    {"PMAK-", k_alnum | k_dash, 30, 59, false},
    {"rdme_", k_alnum, 30, 70, false},
    {"shpat_", k_alnum, 30, 32, false},
    {"shpca_", k_alnum, 30, 32, false},
    {"shppa_", k_alnum, 30, 32, false},
    {"shpss_", k_alnum, 30, 32, false},
    {"sq0atp-", k_url, 20, 22, false},
    {"sq0csp-", k_url, 40, 43, false},
    {"rzp_live_", k_alnum, 14, 14, false},
    {"whsec_", k_base64, 16, 0, false},
    {"SG.", k_url | k_dot, 30, 66, false},
    {"re_", k_alnum | k_dash, 24, 0, true},
    {"EAACEdEose0cBA", k_alnum, 20, 0, false},
    {"CFPAT-", k_url, 30, 43, false},
    {"pul-", k_alnum, 40, 40, false},
    {"tfp_", k_alnum | k_dash, 30, 0, true},
    {"cio_", k_alnum, 30, 0, true},
    {"nk-", k_url, 30, 0, true},
    {"EAA", k_alnum, 80, 0, true},
    {"dt0c01.", k_upper | k_digit | k_dot, 60, 89, false},
    {"dt0s01.", k_upper | k_digit | k_dot, 60, 89, false},
    {"atlasv1.", k_url, 40, 0, true},
    {"ory_at_", k_url | k_dot, 30, 0, false},
    {"ory_rt_", k_url | k_dot, 30, 0, false},
    {"ory_st_", k_url | k_dot, 24, 0, false},
    {"sl.", k_url, 60, 0, true},
    {"pat_", k_alnum, 40, 0, true},
    {"vc_", k_alnum, 30, 0, true},
    {"co-", k_alnum, 36, 0, true},
    {"dckr_", k_url, 24, 0, true},
    {"ctx7sk-", k_url, 20, 0, false},
    {"ELEVENLABS_", k_url, 30, 0, true},
    {"vercel_", k_url, 20, 0, true},
    {"napi_", k_alnum, 40, 0, true},
    {"cohere_", k_alnum, 30, 0, true},
    {"aiv_", k_url, 24, 0, true},
    {"voyage-", k_url, 30, 0, true},
    {"mk_", k_alnum, 30, 0, true},
    {"phs_", k_alnum, 24, 0, true},
    {"cpk_", k_url | k_dot, 40, 0, true},
});

/// Formats in order of their first byte, and where each byte's begin: a word looks at few of them.
struct Index {
  std::array<Format, k_formats.size()> formats{};
  std::array<std::uint16_t, 257> begin{};
  std::array<std::uint64_t, 1024> pairs{};  ///< one bit for each first and second byte
};

constexpr Index make_index() {
  Index index;
  std::copy(k_formats.begin(), k_formats.end(), index.formats.begin());
  const auto first = [](const Format& format) {
    return static_cast<unsigned char>(format.prefix.front());
  };
  std::sort(index.formats.begin(), index.formats.end(),
            [&](const Format& a, const Format& b) { return first(a) < first(b); });
  std::size_t at = 0;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    index.begin[byte] = static_cast<std::uint16_t>(at);
    while (at < index.formats.size() && first(index.formats[at]) == byte) ++at;
  }
  index.begin[256] = static_cast<std::uint16_t>(at);
  for (const Format& format : index.formats) {
    const std::size_t pair =
        std::size_t{first(format)} << 8U | static_cast<unsigned char>(format.prefix[1]);
    index.pairs[pair >> 6U] |= std::uint64_t{1} << (pair & 63U);
  }
  return index;
}
constexpr Index k_index = make_index();

constexpr std::array<bool, 256> make_starts() {
  std::array<bool, 256> starts{};
  for (const Format& format : k_formats)
    starts[static_cast<unsigned char>(format.prefix.front())] = true;
  starts['e'] = starts['$'] = true;
  for (int c = '0'; c <= '9'; ++c) starts[static_cast<std::size_t>(c)] = true;
  for (const char c : {'M', 'N', 'O'}) starts[static_cast<unsigned char>(c)] = true;
  return starts;
}
constexpr std::array<bool, 256> k_starts = make_starts();

/// Bounds of what a try may read: a word full of false starts must not cost its length squared.
constexpr std::size_t k_longest_body = 8192;
constexpr std::size_t k_longest_uncertain = 512;
constexpr std::size_t k_longest_header = 2048;

std::size_t body_end(std::string_view text, std::size_t at, std::uint8_t chars,
                     std::size_t most = k_longest_body) {
  const std::size_t stop = std::min(text.size(), at + most);
  while (at < stop && (k_classes[static_cast<unsigned char>(text[at])] & chars) != 0) ++at;
  return at;
}

bool varied(std::string_view body) {
  const bool digit = body.find_first_of("0123456789") != std::string_view::npos;
  const bool letter = std::any_of(body.begin(), body.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  return digit && letter;
}

/// `header.payload.signature` of base64url parts, the first two JSON objects. Encrypted ones (JWE)
/// have five parts.
TokenMatch match_jwt(std::string_view text, std::size_t at, bool at_line_end) {
  std::size_t end = body_end(text, at, k_url, k_longest_header);
  if (end - at < 12) {
    return {};
  }
  std::size_t parts = 1;
  std::size_t last_begin = at;
  while (end + 1 < text.size() && text[end] == '.' && parts < 5) {
    const std::size_t next = body_end(text, end + 1, k_url);
    if (next == end + 1) break;
    last_begin = end + 1;
    end = next;
    ++parts;
  }
  const bool to_end = at_line_end && end == text.size();
  // What `aws ecr get-login-password` prints: {"payload": ...
  if (parts == 1 && text.substr(at).starts_with("eyJwYXlsb2FkIjoi")) {
    const std::size_t stop = body_end(text, at, k_base64);
    if (stop - at >= 100) return {at, stop, What::token, false};
  }
  if (parts == 1 && !(to_end && end - at >= 20)) {
    // A lone first part is a header or any base64 JSON: left to the decoder of base64 words.
    return {};
  }
  TokenMatch match{at, end, What::token, false};
  if (to_end) {
    // Signatures of HS256, HS384, HS512/ES256, ES384, RS256, RS384, RS512 in base64url.
    static constexpr std::array<std::size_t, 9> k_lengths{43, 64, 86, 128, 176, 342, 512, 683, 22};
    const std::size_t length = end - last_begin;
    match.cut =
        parts < 3 || std::find(k_lengths.begin(), k_lengths.end(), length) == k_lengths.end();
  }
  return match;
}

/// Hashes of passwords: `$2y$10$…`, `$6$salt$…`, `$argon2id$…`, `$apr1$…`.
TokenMatch match_crypt(std::string_view text, std::size_t at) {
  static constexpr std::array<std::string_view, 11> k_kinds{
      "$1$", "$2a$",   "$2b$",    "$2y$",     "$5$",    "$6$",
      "$y$", "$apr1$", "$argon2", "$scrypt$", "$pbkdf2"};
  const std::string_view rest = text.substr(at);
  for (const std::string_view kind : k_kinds) {
    if (!rest.starts_with(kind)) continue;
    std::size_t end = at;
    while (end < text.size() && end - at < k_longest_uncertain &&
           ((k_classes[static_cast<unsigned char>(text[end])] & (k_base64 | k_dot | k_dash)) != 0 ||
            text[end] == '$' || text[end] == ','))
      ++end;
    if (end - at >= 28) return {at, end, What::password, false};
  }
  return {};
}

/// Bots: Telegram `123456789:AA…`, Discord `MTA….….…`. Mailchimp: 32 hex digits and `-us12`.
TokenMatch match_bot(std::string_view text, std::size_t at) {
  const std::size_t digits = body_end(text, at, k_digit, 11);
  if (digits - at >= 8 && digits - at <= 10 && digits < text.size() && text[digits] == ':') {
    const std::size_t end = body_end(text, digits + 1, k_url);
    const std::size_t length = end - digits - 1;
    if (length >= 34 && length <= 36 && looks_random(text.substr(digits + 1, length)))
      return {at, end, What::token, false};
  }
  const std::size_t hex = body_end(text, at, k_lower | k_digit, 33);
  if (hex - at == 32 && text.substr(hex).starts_with("-us")) {
    const std::size_t end = body_end(text, hex + 3, k_digit);
    if (end > hex + 3 && end - hex <= 5) return {at, end, What::token, false};
  }
  const char c = text[at];
  if (c == 'M' || c == 'N' || c == 'O') {
    const std::size_t first = body_end(text, at, k_url, 32);
    if (first - at >= 23 && first - at <= 28 && first < text.size() && text[first] == '.') {
      const std::size_t second = body_end(text, first + 1, k_url);
      if (second - first == 7 && second < text.size() && text[second] == '.') {
        const std::size_t third = body_end(text, second + 1, k_url);
        if (third - second >= 28) return {at, third, What::token, false};
      }
    }
  }
  return {};
}

bool may_start_bot(char first, char second) {
  const std::uint8_t kinds = k_classes[static_cast<unsigned char>(second)];
  if (first >= 'M' && first <= 'O') return (kinds & k_url) != 0;
  const bool hex = (first >= '0' && first <= '9') || (first >= 'a' && first <= 'f');
  return hex && (kinds & (k_lower | k_digit)) != 0;
}

}  // namespace

bool may_start_token(char first, char second) {
  const auto byte = static_cast<unsigned char>(first);
  if (!k_starts[byte]) return false;
  const std::size_t pair = std::size_t{byte} << 8U | static_cast<unsigned char>(second);
  if ((k_index.pairs[pair >> 6U] >> (pair & 63U) & 1U) != 0) return true;
  // Those that have no prefix: JWT, hashes, bots.
  return first == 'e' ? second == 'y' || may_start_bot(first, second)
                      : first == '$' || may_start_bot(first, second);
}

TokenMatch match_token(std::string_view text, std::size_t at, bool at_line_end) {
  const char first = text[at];
  const std::string_view rest = text.substr(at);
  if (first == 'e' && rest.starts_with("eyJ")) return match_jwt(text, at, at_line_end);
  if (first == '$') return match_crypt(text, at);
  TokenMatch best;
  const auto byte = static_cast<unsigned char>(first);
  const std::size_t pair =
      std::size_t{byte} << 8U | (rest.size() > 1 ? static_cast<unsigned char>(rest[1]) : 0U);
  const bool possible = (k_index.pairs[pair >> 6U] >> (pair & 63U) & 1U) != 0;
  for (std::size_t i = k_index.begin[byte]; possible && i < k_index.begin[byte + 1U]; ++i) {
    const Format& format = k_index.formats[i];
    if (rest[1] != format.prefix[1] || !rest.starts_with(format.prefix)) continue;
    const std::size_t begin = at + format.prefix.size();
    std::size_t end =
        body_end(text, begin, format.chars, format.random ? k_longest_uncertain : k_longest_body);
    while (end > begin && (text[end - 1] == '.' || text[end - 1] == '-')) --end;
    const std::size_t length = end - begin;
    const bool to_end = at_line_end && end == text.size();
    const bool cut = to_end && format.full > 0 && length < format.full && length >= 8;
    if (length < format.shortest && !cut) continue;
    const std::string_view body = text.substr(begin, length);
    const bool exact = format.full == 16 && length == 16;
    if (format.random ? !looks_random(body)
                      : !cut && !exact && length < 24 && !varied(body) && !looks_random(body))
      continue;
    // Fixed alphabets without digits before a longer word are no token: `AKIA` inside a name.
    if (format.full == 16 && length > 20) continue;
    if (end > best.end) best = {at, end, What::token, cut};
  }
  if (best.end != 0) return best;
  const bool bot = (first >= '0' && first <= '9') || (first >= 'a' && first <= 'f') ||
                   (first >= 'M' && first <= 'O');
  return bot ? match_bot(text, at) : best;
}

}  // namespace triage::redact
