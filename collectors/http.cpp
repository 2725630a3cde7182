#include "collectors/http.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/text.hpp"

namespace triage::collectors {
namespace {

using Clock = std::chrono::steady_clock;
using Ended = base::Ended;
using std::chrono::milliseconds;

struct Address {
  std::string host;
  std::string port = "80";
  std::string path = "/";
};

std::optional<Address> parse_url(std::string_view url) {
  constexpr std::string_view k_scheme = "http://";
  if (url.substr(0, k_scheme.size()) != k_scheme) return std::nullopt;
  url.remove_prefix(k_scheme.size());
  Address address;
  const auto slash = url.find('/');
  if (slash != std::string_view::npos) address.path = url.substr(slash);
  auto authority = url.substr(0, slash);
  const auto colon = authority.rfind(':');
  if (colon != std::string_view::npos) {
    address.port = authority.substr(colon + 1);
    authority = authority.substr(0, colon);
  }
  address.host = authority;
  return address;
}

class Exchange {
 public:
  Exchange(milliseconds deadline, const base::TakeOutput& take, const std::atomic<bool>* cancel)
      : until_(Clock::now() + deadline), take_(take), cancel_(cancel) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() {
    if (fd_ >= 0) ::close(fd_);
  }

  Ended run(const std::string& url) {
    const auto started = Clock::now();
    if (const auto address = parse_url(url)) {
      if (connect(*address) && send_request(*address)) receive();
    } else {
      fail("is no http:// address");
    }
    result_.duration = std::chrono::duration_cast<milliseconds>(Clock::now() - started);
    return std::move(result_);
  }

  [[nodiscard]] HttpHead head() const {
    HttpHead head;
    if (!in_body_) return head;
    for (const auto line : base::split_lines(header_)) {
      if (head.status.empty())
        head.status = base::trim(line);
      else
        head.fields.append(base::trim(line)).push_back('\n');
    }
    return head;
  }

 private:
  static constexpr std::size_t k_header_limit = 64 * 1024;

  void fail(const std::string& why) {
    if (result_.how != Ended::How::exited) return;
    result_.exit_code = 1;
    result_.error_text = why;
  }

  /// Waits until the socket is ready; false at the deadline or when cancelled.
  bool wait(short events) {
    constexpr milliseconds k_tick{100};
    for (;;) {
      if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) {
        result_.how = Ended::How::cancelled;
        return false;
      }
      const auto left = std::chrono::duration_cast<milliseconds>(until_ - Clock::now());
      if (left.count() <= 0) {
        result_.how = Ended::How::timed_out;
        return false;
      }
      pollfd watched{fd_, events, 0};
      const int ready = ::poll(&watched, 1, static_cast<int>(std::min(left, k_tick).count()));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) {
        fail(std::strerror(errno));
        return false;
      }
    }
  }

  bool connect(const Address& address) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    addrinfo* found = nullptr;
    if (const int code = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
        code != 0) {
      fail(std::string("the host is not known: ") + ::gai_strerror(code));
      return false;
    }
    bool connected = false;
    for (const addrinfo* at = found; at != nullptr && !connected; at = at->ai_next)
      connected = connect_one(*at);
    ::freeaddrinfo(found);
    return connected;
  }

  bool connect_one(const addrinfo& to) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = ::socket(to.ai_family, to.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, to.ai_protocol);
    if (fd_ < 0) {
      fail(std::strerror(errno));
      return false;
    }
    if (::connect(fd_, to.ai_addr, to.ai_addrlen) == 0) return true;
    if (errno != EINPROGRESS) {
      fail(std::string("cannot connect: ") + std::strerror(errno));
      return false;
    }
    if (!wait(POLLOUT)) return false;
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0) return true;
    fail(std::string("cannot connect: ") + std::strerror(error));
    return false;
  }

  bool send_request(const Address& address) {
    result_.exit_code = 0;
    result_.error_text.clear();
    const std::string request =
        "GET " + address.path + " HTTP/1.1\r\nHost: " + address.host +
        "\r\nUser-Agent: triage\r\nAccept: */*\r\nConnection: close\r\n\r\n";
    std::string_view rest = request;
    while (!rest.empty()) {
      const ssize_t sent = ::send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        rest.remove_prefix(static_cast<std::size_t>(sent));
      } else if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
        if (!wait(POLLOUT)) return false;
      } else {
        fail("the connection was closed");
        return false;
      }
    }
    return true;
  }

  void receive() {
    std::array<char, 64 * 1024> buffer{};
    for (;;) {
      const ssize_t got = ::recv(fd_, buffer.data(), buffer.size(), 0);
      if (got > 0) {
        if (!on_bytes({buffer.data(), static_cast<std::size_t>(got)})) return;
      } else if (got == 0) {
        if (!in_body_)
          fail("no HTTP answer came");
        else if (length_ && body_seen_ < *length_)
          fail("the answer ended early");
        return;
      } else if (errno == EAGAIN || errno == EINTR) {
        if (!wait(POLLIN)) return;
      } else {
        fail(std::strerror(errno));
        return;
      }
    }
  }

  bool on_bytes(std::string_view bytes) {
    if (in_body_) return on_body(bytes);
    header_.append(bytes);
    const auto end = header_.find("\r\n\r\n");
    if (end == std::string::npos) {
      if (header_.size() > k_header_limit) fail("the answer's header has no end");
      return header_.size() <= k_header_limit;
    }
    in_body_ = true;
    const std::string body = header_.substr(end + 4);
    header_.resize(end);
    read_header();
    return body.empty() || on_body(body);
  }

  void read_header() {
    const auto lines = base::split_lines(header_);
    const auto words =
        lines.empty() ? std::vector<std::string_view>{} : base::split_blanks(lines[0]);
    const auto status = words.size() > 1 ? base::parse_int(words[1]) : std::nullopt;
    if (!status || words[0].substr(0, 5) != "HTTP/") {
      fail("no HTTP answer came");
    } else if (*status < 200 || *status > 299) {
      result_.exit_code = 22;  // as curl --fail
      result_.error_text = lines[0];
    }
    for (const auto line : lines) {
      const auto colon = line.find(':');
      if (colon == std::string_view::npos) continue;
      const auto name = line.substr(0, colon);
      const auto value = base::trim(line.substr(colon + 1));
      if (base::iequals(name, "Transfer-Encoding") && base::icontains(value, "chunked"))
        chunked_ = true;
      if (base::iequals(name, "Content-Length"))
        if (const auto length = base::parse_int(value); length && *length >= 0)
          length_ = static_cast<std::uint64_t>(*length);
    }
    if (chunked_) length_.reset();
  }

  bool on_body(std::string_view bytes) {
    if (chunked_) return on_chunks(bytes);
    if (length_)
      bytes = bytes.substr(0, static_cast<std::size_t>(*length_ - std::min(*length_, body_seen_)));
    if (!deliver(bytes)) return false;
    return !length_ || body_seen_ < *length_;
  }

  bool deliver(std::string_view bytes) {
    body_seen_ += bytes.size();
    result_.bytes += bytes.size();
    if (bytes.empty() || take_(bytes)) return true;
    result_.how = Ended::How::stopped;
    return false;
  }

  bool on_chunks(std::string_view bytes) {
    while (!bytes.empty()) {
      if (chunk_left_ > 0) {
        const auto part = bytes.substr(
            0, static_cast<std::size_t>(std::min<std::uint64_t>(chunk_left_, bytes.size())));
        if (!deliver(part)) return false;
        chunk_left_ -= part.size();
        bytes.remove_prefix(part.size());
        continue;
      }
      const char c = bytes.front();
      bytes.remove_prefix(1);
      if (c != '\n') {
        if (c != '\r' && chunk_line_.size() < 64) chunk_line_ += c;
        continue;
      }
      if (chunk_line_.empty()) continue;  // the line end behind a chunk
      std::uint64_t size = 0;
      for (const char digit : chunk_line_) {
        if (std::isxdigit(static_cast<unsigned char>(digit)) == 0) break;
        size = size * 16 + static_cast<std::uint64_t>(
                               std::isdigit(static_cast<unsigned char>(digit)) != 0
                                   ? digit - '0'
                                   : std::tolower(static_cast<unsigned char>(digit)) - 'a' + 10);
        if (size > (1ULL << 40U)) {
          fail("the answer's chunks make no sense");
          return false;
        }
      }
      chunk_line_.clear();
      if (size == 0) return false;  // the last chunk
      chunk_left_ = size;
    }
    return true;
  }

  Clock::time_point until_;
  const base::TakeOutput& take_;
  const std::atomic<bool>* cancel_;
  int fd_ = -1;
  Ended result_;
  std::string header_;
  bool in_body_ = false;
  bool chunked_ = false;
  std::optional<std::uint64_t> length_;
  std::uint64_t body_seen_ = 0;
  std::uint64_t chunk_left_ = 0;
  std::string chunk_line_;
};

}  // namespace

base::Ended http_get(const std::string& url, std::chrono::milliseconds deadline,
                     const base::TakeOutput& take, const std::atomic<bool>* cancel,
                     HttpHead* head) {
  Exchange exchange(deadline, take, cancel);
  auto ended = exchange.run(url);
  if (head != nullptr) *head = exchange.head();
  return ended;
}

}  // namespace triage::collectors
