#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "collectors/http.hpp"

using namespace triage;
using base::Ended;
using std::chrono::milliseconds;

namespace {

/// Answers one request with fixed bytes, in pieces, and closes.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer, std::size_t piece = 4096, bool hang = false)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(fd_, 1) == 0);
    socklen_t size = sizeof address;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answer = std::move(answer), piece, hang] {
      const int peer = ::accept(fd_, nullptr, nullptr);
      if (peer < 0) return;
      char request[4096];
      (void)!::read(peer, request, sizeof request);
      for (std::size_t at = 0; at < answer.size(); at += piece)
        (void)!::send(peer, answer.data() + at, std::min(piece, answer.size() - at), MSG_NOSIGNAL);
      if (hang) (void)!::read(peer, request, sizeof request);  // until the client gives up
      ::close(peer);
    });
  }
  ~OneAnswer() {
    ::shutdown(fd_, SHUT_RDWR);
    ::close(fd_);
    thread_.join();
  }
  [[nodiscard]] std::string url(const std::string& path = "/metrics") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }

 private:
  int fd_;
  int port_ = 0;
  std::thread thread_;
};

struct Got {
  std::string body;
  Ended ended;
};

Got get(const std::string& url, milliseconds deadline = milliseconds{3'000}) {
  Got got;
  got.ended = collectors::http_get(
      url, deadline,
      [&](std::string_view piece) {
        got.body += piece;
        return true;
      },
      nullptr);
  return got;
}

}  // namespace

TEST_CASE("a body comes by its length, by its end and in chunks, however it is cut") {
  for (const std::size_t piece : {1U, 3U, 4096U}) {
    CAPTURE(piece);
    {
      const OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more", piece);
      const auto got = get(server.url());
      CHECK(got.body == "hello");
      CHECK(got.ended.ok());
    }
    {
      const OneAnswer server("HTTP/1.0 200 OK\r\n\r\nto the end", piece);
      CHECK(get(server.url()).body == "to the end");
    }
    {
      const OneAnswer server(
          "HTTP/1.1 200 OK\r\ntransfer-encoding: "
          "chunked\r\n\r\n4\r\nwiki\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
          piece);
      const auto got = get(server.url());
      CHECK(got.body == "wiki0123456789");
      CHECK(got.ended.ok());
    }
  }
}

TEST_CASE("an error's body is kept and its status told") {
  const OneAnswer server("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nsick");
  const auto got = get(server.url("/health"));
  CHECK(got.body == "sick");
  CHECK_FALSE(got.ended.ok());
  CHECK(got.ended.error_text == "HTTP/1.1 503 Service Unavailable");
}

TEST_CASE("silence, garbage, early ends and closed ports are told apart") {
  {
    const OneAnswer server("", 1, true);
    CHECK(get(server.url(), milliseconds{200}).ended.how == Ended::How::timed_out);
  }
  {
    const OneAnswer server("\x16\x03\x01 no http");
    CHECK_FALSE(get(server.url()).ended.ok());
  }
  {
    const OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort");
    const auto got = get(server.url());
    CHECK(got.body == "short");
    CHECK_FALSE(got.ended.ok());
  }
  {
    const OneAnswer server(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\nx");
    CHECK_FALSE(get(server.url()).ended.ok());
  }
  CHECK(get("http://127.0.0.1:1/").ended.error_text.find("cannot connect") != std::string::npos);
  CHECK_FALSE(get("ftp://127.0.0.1/").ended.ok());
}

TEST_CASE("the head of an answer is read from the socket and from what kubectl logs") {
  const OneAnswer server("HTTP/1.1 503 Service Unavailable\r\nX-Engine: dead\r\n\r\nsick");
  collectors::HttpHead head;
  std::string body;
  (void)collectors::http_get(
      server.url("/health"), milliseconds(5000),
      [&](std::string_view piece) {
        body += piece;
        return true;
      },
      nullptr, &head);
  CHECK(head.status == "HTTP/1.1 503 Service Unavailable");
  CHECK(head.fields == "X-Engine: dead\n");
  CHECK(body == "sick");

  std::string told;
  const auto logged = collectors::read_http_head(
      "I1130 08:04:47.159472   16298 round_trippers.go:470] GET http://127.0.0.1/x\n"
      "I1130 08:04:47.159492   16298 round_trippers.go:476] Request Headers:\n"
      "I1130 08:04:47.159503   16298 round_trippers.go:480]     Authorization: Bearer <masked>\n"
      "I1130 08:04:47.165709   16298 round_trippers.go:581] Response Status: 503 Service "
      "Unavailable in 6 milliseconds\n"
      "I1130 08:04:47.165734   16298 round_trippers.go:584] Response Headers:\n"
      "I1130 08:04:47.165743   16298 round_trippers.go:587]     Content-Type: text/plain\n"
      "I1130 08:04:47.165963   16298 get.go:174] \"Response Body\" body=\"{\\\"a\\\": 1}\"\n"
      "Error from server (ServiceUnavailable): the server is currently unable\n",
      told);
  CHECK(logged.status == "HTTP 503 Service Unavailable");
  CHECK(logged.fields == "Content-Type: text/plain\n");
  CHECK(told == "{\"a\": 1}");

  told.clear();
  const auto later = collectors::read_http_head(
      "I1130 08:04:47.1 162 round_trippers.go:632] \"Response\" verb=\"GET\" url=\"http://x\" "
      "status=\"200 OK\" headers=<\n\tContent-Length: 0\n\tServer: uvicorn\n > milliseconds=3\n",
      told);
  CHECK(later.status == "HTTP 200 OK");
  CHECK(later.fields == "Content-Length: 0\nServer: uvicorn\n");
  CHECK(collectors::read_http_head("The connection to the server was refused\n", told)
            .status.empty());
}
