#include "tests/lab/case/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/status.h"

namespace kasane::lab {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const CaseResult& result) {
  Json json = {{"case", result.name},
               {"datapath", result.datapath},
               {"ok", !result.failure},
               {"seconds", result.seconds},
               {"notes", result.notes}};
  if (result.failure) {
    json["failure"] = {{"where", result.failure->where},
                       {"expected", result.failure->expected},
                       {"seen", result.failure->seen}};
  }
  return json;
}

size_t CountFailed(const std::vector<CaseResult>& results) {
  return static_cast<size_t>(std::count_if(
      results.begin(), results.end(), [](const CaseResult& result) { return result.failure.has_value(); }));
}

// Further lines stand under the first.
std::string Indented(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "                 ";
  }
  return out;
}

}  // namespace

std::string ResultText(const CaseResult& result) {
  std::string text = fmt::format("{:<4} {:<46} {:<10} {:6.2f} s", result.failure ? "FAIL" : "ok", result.name,
                                 result.datapath, result.seconds);
  for (const std::string& note : result.notes) text += fmt::format("  {}", note);
  text += '\n';
  if (!result.failure) return text;
  return text + fmt::format("     {}\n       expected: {}\n       seen:     {}\n",
                            Indented(result.failure->where), Indented(result.failure->expected),
                            Indented(result.failure->seen));
}

std::string ResultJson(const CaseResult& result) {
  return ToJson(result).dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<CaseResult> ResultFromJson(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("case") || !json.contains("ok")) {
    return Invalid("\"{}\" is no result of a case", text);
  }
  CaseResult result;
  result.name = json.value("case", "");
  result.datapath = json.value("datapath", "");
  result.seconds = json.value("seconds", 0.0);
  result.notes = json.value("notes", std::vector<std::string>());
  if (json.contains("failure")) {
    const Json& failure = json["failure"];
    result.failure = {failure.value("where", ""), failure.value("expected", ""), failure.value("seen", "")};
  }
  return result;
}

std::string ReportJson(const std::vector<CaseResult>& results, double seconds) {
  Json json = {{"results", Json::array()}};
  for (const CaseResult& result : results) json["results"].push_back(ToJson(result));
  json["passed"] = results.size() - CountFailed(results);
  json["failed"] = CountFailed(results);
  json["seconds"] = seconds;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string SummaryText(const std::vector<CaseResult>& results, double seconds) {
  return fmt::format("{} passed, {} failed in {:.1f} s\n", results.size() - CountFailed(results),
                     CountFailed(results), seconds);
}

bool AllPassed(const std::vector<CaseResult>& results) { return CountFailed(results) == 0; }

}  // namespace kasane::lab
