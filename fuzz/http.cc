// An HTTP client that sends anything.
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <utility>

#include "adapters/serve/http_session.h"
#include "adapters/serve/query.h"
#include "fuzz/targets.h"

namespace muster::fuzz {
namespace {

namespace s = serve;

s::HttpResponse Echo(const s::HttpRequest& request) {
  s::HttpResponse response;
  const auto query = s::ParseQuery(request.query);
  response.status = query.ok() ? 200 : 400;
  response.body = request.method + " " + request.path + " " + request.body;
  if (request.path == "/stream") {
    response.more = [left = 3](const s::PartReply& part) mutable {
      part({.bytes = "part\n", .last = --left == 0});
    };
  }
  return response;
}

// The first line of each answer is a status line.
std::string CheckAnswers(const std::string& answers) {
  if (answers.empty() || answers.starts_with("HTTP/1.")) return "";
  return "no answer: " + answers.substr(0, 80);
}

}  // namespace

std::string Http(std::string_view input) {
  // All of it fits into the socket, so that nobody waits.
  constexpr size_t kMost = 64 << 10;
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return "no socket";
  input = input.substr(0, kMost);
  const bool sent = send(ends[1], input.data(), input.size(), MSG_NOSIGNAL) ==
                    static_cast<ssize_t>(input.size());
  shutdown(ends[1], SHUT_WR);
  int asked = 0;
  {
    boost::asio::io_context io{1};
    s::HttpLimits limits;
    limits.body = 1 << 10;
    limits.header = 2 << 10;
    auto gate = std::make_shared<s::Gate>(&io);
    auto shared =
        std::make_shared<const s::HttpSession::Shared>(s::HttpSession::Shared{
            .limits = limits,
            .handler =
                [&asked](const s::HttpRequest& request, const s::Reply& reply) {
                  ++asked;
                  reply(Echo(request));
                },
            .gate = gate,
            .connections = std::make_shared<s::Connections>(limits)});
    const s::Peer peer{.who = uint32_t{7},
                       .loopback = true,
                       .credentials = s::Credentials{.uid = 7}};
    (void)shared->connections->Enter(peer);
    boost::system::error_code error;
    s::HttpSession::Socket socket(io);
    socket.assign(boost::asio::generic::stream_protocol(AF_UNIX, 0), ends[0],
                  error);
    std::make_shared<s::HttpSession>(std::move(socket), peer, shared)->Read();
    io.run_for(std::chrono::milliseconds(500));
    gate->Close();
  }
  std::string answers;
  char block[4096];
  for (ssize_t n = 0;
       (n = recv(ends[1], block, sizeof block, MSG_DONTWAIT)) > 0;) {
    answers.append(block, static_cast<size_t>(n));
  }
  close(ends[1]);
  if (!sent) return "";
  if (asked > 0 && answers.empty()) return "a request has no answer";
  return CheckAnswers(answers);
}

}  // namespace muster::fuzz
