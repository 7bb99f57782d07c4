#include "adapters/report/page.h"

#include "absl/strings/str_replace.h"

namespace muster::inprocess {
namespace {

std::string Escaped(std::string_view text) {
  return absl::StrReplaceAll(
      {text.data(), text.size()},
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// In JSON, '<' only occurs inside strings, where it may be written otherwise:
// so no string ends the element, or begins a comment in it.
std::string ForScript(std::string_view json) {
  return absl::StrReplaceAll({json.data(), json.size()}, {{"<", "\\u003c"}});
}

}  // namespace

absl::Status CheckWebBundle(std::string_view page, std::string_view option) {
  if (FindWebBundle(page).has_value()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      std::string(option) +
      " needs a build with npm: this muster-sim was built without (what npm "
      "said, "
      "if it was there: web/npm.log in the build folder)");
}

std::string HtmlPage(const WebBundle& bundle, std::string_view title,
                     std::string_view json) {
  // The policy makes sure of it: the page loads nothing from anywhere.
  std::string html = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>)";
  html += Escaped(title);
  html += "</title>\n<style>";
  html += bundle.style;
  html += "</style>\n</head>\n<body>\n<main id=\"page\"></main>\n";
  html += "<noscript>This page needs JavaScript.</noscript>\n";
  html += "<script type=\"application/json\" id=\"muster-data\">";
  html += ForScript(json);
  html += "</script>\n<script>";
  html += bundle.script;
  html += "</script>\n</body>\n</html>\n";
  return html;
}

}  // namespace muster::inprocess
