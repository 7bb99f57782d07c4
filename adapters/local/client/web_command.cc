// muster web: the way to the page.
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/commands.h"

namespace muster::local {
namespace {

constexpr char kToken[] = "/v1/web/token";

}  // namespace

int ShowWeb(Session* session, bool renew) {
  const auto answer = session->Ask("GET", "/v1/web");
  if (!answer.ok()) return session->Fail(answer.status());
  if (renew) {
    const auto gone = session->Ask("DELETE", kToken);
    if (!gone.ok()) return session->Fail(gone.status());
  }
  const auto token = session->Ask("POST", kToken);
  if (!token.ok()) return session->Fail(token.status());
  const std::string address = absl::StrCat(
      answer->value("address", ""), "/login?token=", token->value("token", ""));
  if (session->json()) {
    session->PrintJson({{"address", address}});
  } else {
    session->out() << address << "\n";
  }
  return kDone;
}

}  // namespace muster::local
