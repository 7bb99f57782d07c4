#include "test/kubernetes_client/https_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace muster::kubernetes::client {
namespace {

// A certificate that signs itself, with its key beside it.
bool MakeCertificate(const std::string& base, const std::string& names) {
  const std::string command =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 "
      "-nodes -days 2 -subj /CN=" +
      std::filesystem::path(base).filename().string() +
      " -addext subjectAltName=" + names + " -keyout " + base + ".key -out " +
      base + ".pem >/dev/null 2>&1";
  return std::system(command.c_str()) == 0;
}

// A line with a number, for which a slow machine may take a while.
int ReadPort(int fd) {
  std::string text;
  char c = 0;
  pollfd ready = {.fd = fd, .events = POLLIN, .revents = 0};
  while (poll(&ready, 1, 60'000) == 1 && read(fd, &c, 1) == 1 && c != '\n') {
    text += c;
  }
  return std::atoi(text.c_str());
}

}  // namespace

HttpsServer::HttpsServer(bool http2) {
  std::string name =
      (std::filesystem::temp_directory_path() / "muster-https-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    missing_ = "a temporary folder";
    return;
  }
  folder_ = name;
  if (!MakeCertificate(PathOf("server"), "IP:127.0.0.1,DNS:api.test") ||
      !MakeCertificate(PathOf("other"), "IP:127.0.0.1") ||
      !MakeCertificate(PathOf("client"), "DNS:client")) {
    missing_ = "openssl";
    return;
  }
  SetToken("first");
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) return;
  pid_ = fork();
  if (pid_ == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    const std::string script = std::string("test/kubernetes_client/") +
                               (http2 ? "http2_server.mjs" : "https_server.py");
    const char* const program = http2 ? "node" : "python3";
    execlp(program, program, script.c_str(), folder_.c_str(), nullptr);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  input_ = in[1];
  port_ = ReadPort(out[0]);
  close(out[0]);
  if (port_ == 0) {
    missing_ = http2 ? "Node.js, from the repository's root"
                     : "python3 with ssl, from the repository's root";
  }
}

HttpsServer::~HttpsServer() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (input_ >= 0) close(input_);
  if (!folder_.empty()) std::filesystem::remove_all(folder_);
}

std::string HttpsServer::PathOf(const std::string& file) const {
  return folder_ + "/" + file;
}

std::string HttpsServer::Text(const std::string& file) const {
  std::ifstream in(PathOf(file));
  return {std::istreambuf_iterator<char>(in), {}};
}

void HttpsServer::SetToken(const std::string& token) const {
  std::ofstream(PathOf("token")) << token << "\n";
}

}  // namespace muster::kubernetes::client
