// What the report's page is made from.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "adapters/report/page.h"

namespace muster::inprocess {
namespace {

using Json = nlohmann::ordered_json;

// Six digits: more than anybody sees, and half the size.
double Short(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale =
      std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

// To the microsecond.
Json Seconds(Time t) {
  if (t == kForever) return nullptr;
  if (t % kSecond == 0) return t / kSecond;
  const int64_t micros = t / 1000;
  return static_cast<double>(micros) / 1e6;
}

double Gpus(int64_t milli) { return static_cast<double>(milli) / 1000; }

template <class Enum>
Json NamesOf(size_t count) {
  Json names = Json::array();
  for (size_t i = 0; i < count; ++i) {
    names.push_back(Name(static_cast<Enum>(i)));
  }
  return names;
}

Json Column(const BucketSeries& s, const std::function<double(size_t)>& value) {
  Json column = Json::array();
  for (size_t b = 0; b < s.size(); ++b) column.push_back(Short(value(b)));
  return column;
}

// The mean over time of a column of sums.
Json Mean(const BucketSeries& s, size_t column, double unit = 1) {
  return Column(s, [&](size_t b) {
    const double seconds = s.sum(b, kSeconds);
    return seconds > 0 ? unit * s.sum(b, column) / seconds : 0;
  });
}

Json Sum(const BucketSeries& s, size_t column) {
  return Column(s, [&](size_t b) { return s.sum(b, column); });
}

Json Share(const BucketSeries& s, size_t part, size_t whole) {
  return Column(s, [&](size_t b) {
    return s.sum(b, whole) > 0 ? s.sum(b, part) / s.sum(b, whole) : 0;
  });
}

Json SeriesJson(const BucketSeries& s, const Report& report) {
  Json j = {{"origin_s", Seconds(s.origin())},
            {"width_s", static_cast<double>(s.width()) / kSecond},
            {"seconds", Sum(s, kSeconds)}};
  j["used"] = Json::object();
  j["capacity"] = Json::object();
  for (size_t k = 0; k < report.utilisation.size(); ++k) {
    const size_t used = kFixedColumns + 2 * k;
    const std::string& name = report.utilisation[k].first;
    j["used"][name] = Share(s, used, used + 1);
    j["capacity"][name] = Mean(s, used + 1);
  }
  j["waiting"] = Mean(s, kWaitingGangs);
  j["waiting_most"] =
      Column(s, [&](size_t b) { return s.maximum(b, kMostWaiting); });
  j["working"] = Mean(s, kWorkingGangs);
  j["waiting_gpus"] = Mean(s, kWaitingDevices);
  j["free_gpus"] = Mean(s, kFreeMilli, 1e-3);
  j["partly_gpus"] = Mean(s, kPartlyMilli, 1e-3);
  j["scattered_gpus"] = Mean(s, kScatteredFree);
  for (size_t c = 0; c < 8; ++c) {
    const Json lost =
        Column(s, [&](size_t b) { return s.sum(b, kLost + c) / 3600; });
    j["lost_gpu_hours"][std::string(Name(static_cast<StopCause>(c)))] = lost;
  }
  return j;
}

std::string Base64(std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    for (size_t k = 0; k < 3; ++k) {
      three =
          three << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      out += k <= n ? kDigits[three >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

// Texts that occur often, by number.
class Texts {
 public:
  size_t Number(const std::string& text) {
    const auto [it, fresh] = numbers_.try_emplace(text, list_.size());
    if (fresh) list_.push_back(text);
    return it->second;
  }
  const Json& list() const { return list_; }

 private:
  std::map<std::string, size_t> numbers_;
  Json list_ = Json::array();
};

Json NodesJson(const MapPicture& map, size_t levels) {
  Texts models;
  std::vector<Texts> domains(levels);
  Json nodes = Json::array();
  for (const MapPicture::Node& n : map.nodes) {
    Json node = {n.key, n.devices, models.Number(n.model)};
    for (size_t l = 0; l < levels; ++l) {
      node.push_back(domains[l].Number(n.path[l]));
    }
    nodes.push_back(std::move(node));
  }
  Json j = {{"nodes", std::move(nodes)}, {"models", models.list()}};
  j["domains"] = Json::array();
  for (const Texts& level : domains) j["domains"].push_back(level.list());
  return j;
}

// A gang that has a device for itself is one number; of several that share one
// there is a list: thousandths in use, whether all work, the gangs.
Json MapJson(const MapPicture& map, const std::vector<std::string>& levels) {
  Json j = NodesJson(map, levels.size());
  j["levels"] = levels;
  j["steps_s"] = Json::array();
  for (const Time t : map.steps) j["steps_s"].push_back(Seconds(t));
  j["changes"] = Base64(map.changes);
  j["occupancies"] = Json::array();
  for (const Occupancy& o : map.occupancies) {
    if (o.gangs.size() == 1 && o.milli == 1000) {
      j["occupancies"].push_back(2 * o.gangs[0] + (o.working ? 1 : 0));
      continue;
    }
    Json shared = {o.milli, o.working ? 1 : 0};
    for (const uint32_t gang : o.gangs) shared.push_back(gang);
    j["occupancies"].push_back(std::move(shared));
  }
  Texts classes;
  Json keys = Json::array(), of_class = Json::array(), gpus = Json::array();
  for (const MapGang& g : map.gangs) {
    keys.push_back(g.key);
    of_class.push_back(classes.Number(g.priority_class));
    gpus.push_back(Gpus(g.device_milli));
  }
  j["gangs"] = {{"key", std::move(keys)},
                {"class", std::move(of_class)},
                {"gpus", std::move(gpus)},
                {"classes", classes.list()}};
  j["spacing_s"] = Seconds(map.spacing);
  return j;
}

Json StintJson(const Stint& s) {
  Json j = {{"from", Seconds(s.from)}, {"to", Seconds(s.to)}};
  if (s.cause.has_value()) j["end"] = Name(*s.cause);
  if (s.saved > 0) j["saved"] = Seconds(s.saved);
  if (s.lost > 0) j["lost"] = Seconds(s.lost);
  if (!s.on_behalf_of.empty()) j["by"] = s.on_behalf_of;
  j["tasks"] = s.sizes.empty() ? 0 : s.sizes[0].tasks;
  if (s.sizes.size() > 1) {
    for (const Size& size : s.sizes) {
      j["sizes"].push_back({Seconds(size.at), size.tasks});
    }
  }
  j["nodes"] = s.nodes;
  if (s.nodes_in_all > s.nodes.size()) j["nodes_in_all"] = s.nodes_in_all;
  return j;
}

Json GangJson(const GangRecord& g) {
  Json j = {{"key", g.key},
            {"class", g.priority_class},
            {"queue", g.queue},
            {"gpus", Gpus(g.device_milli)},
            {"tasks", g.tasks},
            {"submitted", Seconds(g.submitted)},
            {"ended", Seconds(g.ended)},
            {"waited", Seconds(g.waited)},
            {"stops", g.stops}};
  if (!g.gone.empty()) j["gone"] = g.gone;
  j["work"] = Json::array();
  for (const Stint& s : g.stints) j["work"].push_back(StintJson(s));
  if (g.stints_in_all > g.stints.size()) j["work_in_all"] = g.stints_in_all;
  j["reasons"] = Json::array();
  for (const ReasonAt& r : g.reasons) {
    j["reasons"].push_back({Seconds(r.at), Name(r.code), r.text});
  }
  return j;
}

Json GangsJson(const RunRecord& record) {
  Json j = {{"in_all", record.gangs},
            {"complete", record.sample_complete},
            {"standings", NamesOf<Standing>(kStandings)},
            {"reasons_complete", record.reasons_complete},
            {"waiting_in_all", record.waiting_in_all}};
  j["sample"] = Json::array();
  for (const GangSample::Picked& picked : record.sample) {
    Json gang = GangJson(*picked.gang);
    gang["standing"] = Json::array();
    for (size_t s = 0; s < kStandings; ++s) {
      if (picked.standing[s]) gang["standing"].push_back(s);
    }
    j["sample"].push_back(std::move(gang));
  }
  j["waiting"] = Json::array();
  for (const auto& [gang, ahead] : record.waiting) {
    Json waits = GangJson(gang);
    waits["ahead"] = ahead;
    j["waiting"].push_back(std::move(waits));
  }
  return j;
}

}  // namespace

std::string ReportPageJson(const Report& report, const RunRecord& record,
                           std::string_view story) {
  Json j;
  j["title"] = report.title;
  j["story"] = story;
  j["end_s"] = Seconds(record.end);
  j["run"] = Json::parse(ReportJson(report), nullptr, false);
  j["series"] = SeriesJson(record.series, report);
  j["map"] = MapJson(record.map, record.levels);
  j["gangs"] = GangsJson(record);
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace muster::inprocess
