// Names of users, for the page.
#include <pwd.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "adapters/local/api/context.h"
#include "adapters/local/api/error_answer.h"
#include "adapters/local/api/job_json.h"

namespace muster::local {
namespace {

// A directory service may take its time, and the loop waits for nobody: those
// who are only there go without a name.
constexpr char kUsers[] = "/etc/passwd";
constexpr size_t kMostUsers = 10'000;

}  // namespace

serve::HttpResponse UsersAnswer(const Asked& asked) {
  using Json = nlohmann::ordered_json;
  Json users = Json::array();
  std::string home = "/";
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(kUsers, "re"), fclose);
  char buffer[4096];
  passwd user{};
  passwd* found = nullptr;
  while (file != nullptr && users.size() < kMostUsers &&
         fgetpwent_r(file.get(), &user, buffer, sizeof buffer, &found) == 0) {
    users.push_back({{"uid", user.pw_uid}, {"name", user.pw_name}});
    if (user.pw_uid == asked.viewer.uid) home = user.pw_dir;
  }
  return JsonAnswer(ToText(Json{{"self", asked.viewer.uid},
                                {"home", home},
                                {"privileged", asked.viewer.privileged},
                                {"users", std::move(users)}}));
}

}  // namespace muster::local
