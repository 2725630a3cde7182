#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "base/text.hpp"
#include "redact/redactor.hpp"
#include "redact/user_text_spans.hpp"

using namespace triage;

namespace {

/// Pieces that steer the reader into its corners, put together at random.
std::string hostile_text(std::mt19937& random, std::size_t pieces) {
  static const std::vector<std::string> k_pieces{"password=",
                                                 "\"api_key\": \"",
                                                 "prompt: '",
                                                 "token_ids=[",
                                                 "1, 22, 3333",
                                                 "'",
                                                 "\"",
                                                 "\\",
                                                 "\\\"",
                                                 "{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 "(",
                                                 ")",
                                                 ": ",
                                                 "= ",
                                                 ",",
                                                 "\n",
                                                 "\r\n",
                                                 " ",
                                                 "https://",
                                                 "user:pw@",
                                                 "?a=b&c=d",
                                                 "%20%22",
                                                 "-----BEGIN RSA PRIVATE KEY-----",
                                                 "-----END RSA PRIVATE KEY-----",
                                                 "hf_",
                                                 "sk-proj-",
                                                 "eyJhbGciOi",
                                                 ".",
                                                 "AbC123xYz987QrS456tUv",
                                                 "10.0.0.7",
                                                 "host.example.net",
                                                 "a@b.example",
                                                 "<|im_start|>user",
                                                 "<|im_end|>",
                                                 "tell me about the plan",
                                                 "Authorization: Bearer ",
                                                 "--api-key ",
                                                 "name: ",
                                                 "value: ",
                                                 "- ",
                                                 "  ",
                                                 "Zm9vOmJhcmJheg==",
                                                 "\xff\xfe",
                                                 "\xE2\x82\xAC",
                                                 "<token:1234567890>",
                                                 "<redacted:prompt>",
                                                 std::string(1, '\0'),
                                                 "kind: Secret\ndata:\n  a: ",
                                                 "\ndata:\n  b: |\n    ",
                                                 "\nkind: ConfigMap\n",
                                                 "|\n",
                                                 "2026-05-12T10:00:00Z "};
  std::string text;
  for (std::size_t i = 0; i < pieces; ++i)
    text += k_pieces[std::uniform_int_distribution<std::size_t>(0, k_pieces.size() - 1)(random)];
  return text;
}

redact::Options salted() {
  redact::Options options;
  options.salt = "test";
  return options;
}

std::string redacted(const std::string& text, evidence::Kind kind, std::mt19937* cuts = nullptr) {
  redact::Redactor redactor(salted());
  redact::Stream stream = redactor.open({"x", kind, evidence::Format::lines});
  std::string out;
  const redact::Sink sink = [&out](std::string_view part) { out += part; };
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t most = std::min<std::size_t>(rest.size(), 97);
    const std::size_t length =
        cuts != nullptr ? std::uniform_int_distribution<std::size_t>(1, most)(*cuts) : rest.size();
    stream.feed(rest.substr(0, length), sink);
    rest.remove_prefix(length);
  }
  stream.finish(sink);
  return out;
}

}  // namespace

TEST_CASE(
    "properties: on any input lines stay, chunks do not matter, and a third run changes nothing") {
  std::mt19937 random(20260512);
  for (int round = 0; round < 400; ++round) {
    const std::string text = hostile_text(random, 60);
    const auto kind = round % 3 == 0   ? evidence::Kind::unknown_text
                      : round % 3 == 1 ? evidence::Kind::container_log
                                       : evidence::Kind::pod;
    const std::string once = redacted(text, kind);
    CHECK(std::count(once.begin(), once.end(), '\n') == std::count(text.begin(), text.end(), '\n'));
    CHECK(redacted(text, kind, &random) == once);
    // What was cut by hostile quotes may be read differently once some of it is masked; after that
    // it must be at rest.
    const std::string twice = redacted(once, kind);
    CHECK_MESSAGE(redacted(twice, kind) == twice, text);
  }
}

TEST_CASE("properties: JSON with secrets anywhere stays JSON, with the same keys and numbers") {
  std::mt19937 random(7);
  const std::vector<std::string> keys{"password", "prompt", "text", "n",    "input_ids",
                                      "user",     "args",   "data", "name", "value"};
  const std::vector<nlohmann::json> values{
      "AbC123xYz987QrS456tUv",
      "tell me about the \"plan\" of Ines\n and more",
      4096,
      nullptr,
      nlohmann::json::array({101, 2202, 33303, 404, 5505}),
      "{\"token\": \"AbC123xYz987QrS456tUv\", \"n\": [1, 2]}",
      "10.0.0.7:8000",
      "--api-key",
      "HF_TOKEN",
      true,
      "https://u:pw@h.example.net/x?sig=AbC123xYz987QrS456tUv"};
  for (int round = 0; round < 300; ++round) {
    nlohmann::json object = nlohmann::json::object();
    for (int i = 0; i < 6; ++i) {
      const std::string& key = keys[random() % keys.size()];
      const nlohmann::json& value = values[random() % values.size()];
      switch (random() % 3) {
        case 0:
          object[key] = value;
          break;
        case 1:
          object[key] = nlohmann::json::array({value, values[random() % values.size()]});
          break;
        default:
          object[key] = {{keys[random() % keys.size()], value}};
      }
    }
    const std::string text = object.dump(round % 2 == 0 ? -1 : 2) + "\n";
    const auto kind = round % 4 < 2 ? evidence::Kind::container_log : evidence::Kind::pod;
    const std::string out = redacted(text, kind);
    const auto parsed = nlohmann::json::parse(out, nullptr, false);
    REQUIRE_MESSAGE(!parsed.is_discarded(), text << out);
    for (const auto& [key, value] : object.items()) CHECK(parsed.contains(key));
    CHECK_MESSAGE(redacted(out, kind) == out, out);
  }
}

TEST_CASE("properties: hostile lines cost no more than their length") {
  // Each of these repeats what makes a naive reader look at the rest of the line again and again.
  for (const std::string& piece : {std::string("prompt: a_ "),
                                   std::string("'a"),
                                   std::string("\" x"),
                                   std::string("sk-"),
                                   std::string("password x1 login "),
                                   std::string("https://u:"),
                                   std::string("{'name': '"),
                                   std::string("\\\\\\\""),
                                   std::string("a@b"),
                                   std::string("%25"),
                                   std::string("1.1.1."),
                                   std::string("<|im_start|>"),
                                   std::string("[INST]"),
                                   std::string("token_ids=[["),
                                   std::string("eyJ-"),
                                   std::string("Cookie: a=b;"),
                                   std::string("data:x;base64,"),
                                   std::string("=iscsi:a:b@"),
                                   std::string("a1=\"-x\" "),
                                   std::string("cmd=4142434445464748 "),
                                   std::string("; llm 'a "),
                                   std::string("echo 'a b | llm "),
                                   std::string("createUser a SHA \""),
                                   std::string("): x "),
                                   std::string("<<EOF ")}) {
    std::string text;
    while (text.size() < (512U << 10U)) text += piece;
    const std::clock_t begin = std::clock();
    const std::string out = redacted(text, evidence::Kind::container_log);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    CHECK_MESSAGE(seconds < 10.0, piece << " took " << seconds << " s of CPU");
    CHECK(out.find('\n') == std::string::npos);
  }
}

TEST_CASE("properties: a secret at the end of a long line is found") {
  std::string text = "start ";
  for (int i = 0; i < 300'000; ++i) text += "word" + std::to_string(i) + " ";
  text += "password=AbC123xYz987QrS456tUv end\nnext line\n";
  const std::string out = redacted(text, evidence::Kind::container_log);
  CHECK(out.find("AbC123xYz987QrS456tUv") == std::string::npos);
  CHECK(out.find("word299999 password=<password:") != std::string::npos);
  CHECK(out.ends_with(" end\nnext line\n"));
}

TEST_CASE("redactor: a value known from a later file is found when the earlier is checked again") {
  redact::Redactor redactor(salted());
  const redact::Source source{"x", evidence::Kind::container_log, evidence::Format::lines};
  const std::string first = redactor.redact("unknown caller acme-Zr7Kq2Lm9Xw4Tn8Vb5\n", source);
  CHECK(first.find("acme-Zr7Kq2Lm9Xw4Tn8Vb5") != std::string::npos);
  (void)redactor.redact("master_key=acme-Zr7Kq2Lm9Xw4Tn8Vb5\n", source);
  redact::Stream check = redactor.check(source);
  std::string again;
  const redact::Sink sink = [&again](std::string_view part) { again += part; };
  check.feed(first, sink);
  check.finish(sink);
  CHECK(check.counts().tier1() == 1);
  CHECK(again.find("acme-Zr7") == std::string::npos);
  CHECK(redactor.totals().tier1() == 1);
}

TEST_CASE("redactor: the report counts and quotes nothing, the map is kept only when asked for") {
  redact::Options options = salted();
  redact::Redactor plain(options);
  options.keep_reverse_map = true;
  redact::Redactor mapped(options);
  const redact::Source source{"pod.log", evidence::Kind::container_log, evidence::Format::lines};
  const std::string line = "password=AbC123xYz987QrS456tUv from 10.0.0.7\n";
  CHECK(plain.redact(line, source) == mapped.redact(line, source));
  CHECK(plain.reverse_map().empty());
  REQUIRE(mapped.reverse_map().size() == 2);
  const auto report = nlohmann::json::parse(plain.report_json());
  CHECK(report["by_kind"]["password"] == 1);
  CHECK(report["by_kind"]["ip"] == 1);
  CHECK(report["files"][0]["file"] == "pod.log");
  CHECK(report.dump().find("AbC123") == std::string::npos);
  CHECK(report.dump().find("10.0.0.7") == std::string::npos);
}

TEST_CASE("redactor: the report of any salt holds nothing that a check would mask") {
  const redact::Source log{"pod.log", evidence::Kind::container_log, evidence::Format::lines};
  const redact::Source report{"redaction.json", evidence::Kind::unknown_text,
                              evidence::Format::other_json};
  for (int seed = 0; seed < 64; ++seed) {
    redact::Options options;
    options.salt = "salt " + std::to_string(seed);
    redact::Redactor redactor(options);
    CHECK_FALSE(redactor.redact("password=AbC123xYz987QrS456tUv from 10.0.0.7\n", log).empty());
    const std::string written = redactor.report_json();
    CHECK(redact::Redactor(options).redact(written, report) == written);
  }
}

TEST_CASE("redactor: strict drops text that could be content and whole host names") {
  redact::Options options = salted();
  options.strict = true;
  redact::Redactor redactor(options);
  const redact::Source source{"x", evidence::Kind::container_log, evidence::Format::lines};
  const std::string out = redactor.redact(
      "{\"text\": \"NCCL error while I asked about the plan\", \"n\": 1} on "
      "gpu-node-07.prod.example.net\n",
      source);
  CHECK(out.find("asked about") == std::string::npos);
  CHECK(out.find("gpu-node-07") == std::string::npos);
  CHECK(out.find("\"n\": 1") != std::string::npos);
}

TEST_CASE("redactor: user text that a rule pack marks is masked, the fields beside it stay") {
  redact::Options options = salted();
  evidence::UserTextSpan span;
  span.id = "own-engine";
  span.start = "job says ";
  options.user_text.push_back(span);
  redact::Redactor redactor(options);
  const redact::Source source{"x", evidence::Kind::container_log, evidence::Format::lines};
  const std::string out = redactor.redact(
      "job says tell me about the plan of Ines\njob says {\"zeile\": \"tell me about the plan of "
      "Ines\", \"rid\": \"r-17\"}\n",
      source);
  CHECK(out.find("plan of Ines") == std::string::npos);
  CHECK(out.find("\"rid\": \"r-17\"") != std::string::npos);
}

TEST_CASE(
    "user text: a marked text between quotes is masked however short, what is no text stays") {
  redact::Options options = salted();
  evidence::UserTextSpan span;
  span.id = "own-engine";
  span.start = "delta: output: ";
  span.end = ", output_ids: ";
  options.user_text.push_back(span);
  redact::Redactor redactor(options);
  const redact::Source source{"x", evidence::Kind::container_log, evidence::Format::lines};
  const std::string out = redactor.redact(
      "r-1 delta: output: ' divorce', output_ids: [48]\nr-2 delta: output: None, output_ids: []\n",
      source);
  CHECK(out.find("divorce") == std::string::npos);
  CHECK(out.find("', output_ids: [48]") != std::string::npos);
  CHECK(out.find("r-2 delta: output: None, output_ids: []") != std::string::npos);
}

TEST_CASE("user text: the texts that every start must hold are read from its pattern") {
  using redact::required_literals;
  using Literals = std::vector<std::string>;
  CHECK(required_literals("Received request \\S+: prompt: ") == Literals{"received request "});
  CHECK(required_literals("\\bin=\\w*GenerateReqInput\\(") == Literals{"generatereqinput("});
  CHECK(required_literals("(?i)received request") == Literals{"received request"});
  CHECK(required_literals("(?:Model output|Answer given)s?: ") ==
        Literals{"answer given", "model output"});
  CHECK(required_literals("(?:Receive|Finish): (?:rid=\\S+ ?)?obj") ==
        Literals{"finish: ", "receive: "});
  // What cannot be told, or is too short to be looked for, is searched line by line.
  for (const char* pattern :
       {"", "received request|prompt", "(?:Model output|Text|Answer given)[0-9]*: ['\"]",
        "[abcdefgh]+", "(?:(?:", "short"})
    CHECK_MESSAGE(required_literals(pattern).empty(), std::string(pattern));
}

TEST_CASE("user text: marked text is found wherever its line begins in a block") {
  redact::Options options = salted();
  evidence::UserTextSpan span;
  span.id = "own-engine";
  span.start = "\\bqueued job \\d+: ";
  options.user_text.push_back(span);
  redact::Redactor redactor(options);
  const redact::Source source{"x", evidence::Kind::container_log, evidence::Format::lines};
  std::string text;
  for (int i = 0; i < 64; ++i) {
    text.append(static_cast<std::size_t>(i), 'x');
    text += "\nqueued job 17: tell me about the plan of Ines\n";
  }
  const std::string out = redactor.redact(text, source);
  CHECK(out.find("plan of Ines") == std::string::npos);
  CHECK(std::count(out.begin(), out.end(), '\n') == std::count(text.begin(), text.end(), '\n'));
}
