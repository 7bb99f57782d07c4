// What became of a job, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "adapters/local/model/job_row.h"
#include "adapters/local/model/news_row.h"
#include "adapters/local/model/task_row.h"

namespace muster::local {

// {"id", "events", "attempts"}: docs/local-api.yaml. `tasks`: all attempts, by
// key; `news`, oldest first. The work that a stop has lost is what was done
// since the last checkpoint of that attempt, or since its start. Pure;
// O((attempts + news) log of both).
nlohmann::ordered_json TimelineJson(const JobRow& row,
                                    const std::vector<TaskRow>& tasks,
                                    const std::vector<NewsRow>& news);

}  // namespace muster::local
