#include "lib/workload/alternatives.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_split.h"
#include "lib/workload/cat.h"
#include "muster/gang.h"
#include "muster/quantity.h"

namespace muster::workload {
namespace {

absl::Status ReadAmount(const std::string& text, std::vector<Amount>* to) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return absl::InvalidArgumentError(
        Cat("'", text, "': expected RESOURCE=AMOUNT, as cpu=16"));
  }
  Amount amount{text.substr(0, equals)};
  const auto read = ParseQuantity(text.substr(equals + 1),
                                  amount.resource == "cpu" ? 1000 : 1);
  if (!read.ok() || *read < 0) {
    return absl::InvalidArgumentError(
        Cat("'", text, "': expected an amount such as 16 or 64Gi"));
  }
  amount.amount = *read;
  if (std::ranges::find(*to, amount.resource, &Amount::resource) != to->end()) {
    return absl::InvalidArgumentError(
        Cat("'", amount.resource, "' is there twice"));
  }
  to->push_back(std::move(amount));
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadAlternatives(const std::string& text,
                              std::vector<std::vector<Amount>>* to) {
  to->clear();
  for (const std::string& one :
       std::vector<std::string>(absl::StrSplit(text, ';'))) {
    std::vector<Amount>& amounts = to->emplace_back();
    for (const std::string& amount :
         std::vector<std::string>(absl::StrSplit(one, ','))) {
      absl::Status s = ReadAmount(amount, &amounts);
      if (!s.ok()) return s;
    }
    std::ranges::sort(amounts, {}, &Amount::resource);
  }
  if (to->size() <= muster::Role::kMaxAlternatives) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("has ", to->size(),
                                        " alternatives; at most ",
                                        muster::Role::kMaxAlternatives));
}

}  // namespace muster::workload
