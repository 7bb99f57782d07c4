// Pages for people: one file that needs no network, from JSON and a front end
// that was bundled when muster-sim was built (web/).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "adapters/report/recorder.h"
#include "adapters/report/report.h"

namespace muster::inprocess {

// The front end of one kind of page.
struct WebBundle {
  std::string_view script{};
  std::string_view style{};
};

// Of the page "report" or "compare". nullopt: muster-sim was built without npm.
// Generated from web/, or web_bundle_none.cc.
std::optional<WebBundle> FindWebBundle(std::string_view page);

// FAILED_PRECONDITION says what a build without `page` lacks for the option.
absl::Status CheckWebBundle(std::string_view page,
                            std::string_view option = "--report");

// A whole HTML page. `json` is what the script finds in the element
// "muster-data"; whatever text is in there, it stays text.
std::string HtmlPage(const WebBundle& bundle, std::string_view title,
                     std::string_view json);

// What the report's page shows; web/src/report.js reads it. Valid JSON in valid
// UTF-8, whatever the keys hold.
std::string ReportPageJson(const Report& report, const RunRecord& record,
                           std::string_view story);

}  // namespace muster::inprocess
