// Reads scenario files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "test/conformance/json_fields.h"
#include "test/conformance/scenario.h"

namespace muster::conformance {

// The version of the format this program reads.
inline constexpr char kFormat[] = "muster-conformance/1";

// INVALID_ARGUMENT with file and field (or line and column) where the text is
// no JSON or a field has a type the format does not allow. Fields that the
// format or this program does not know are no error: they are in `beyond`.
absl::StatusOr<Scenario> ReadScenario(std::string_view text,
                                      const std::string& file);

// All scenarios under the folder, by path. Files index.json and schema.json
// describe a suite and are none. INVALID_ARGUMENT or NOT_FOUND, with the file.
absl::StatusOr<std::vector<Scenario>> ReadFolder(const std::string& folder);

// The parts, each in a file of its own.
void ReadCluster(JsonFields& fields, ClusterSpec* cluster);
void ReadQueue(JsonFields& fields, QueueSpec* queue);
void ReadGang(JsonFields& fields, GangSpec* gang);
void ReadQuery(JsonFields& fields, Scenario* scenario);
void ReadExpectation(JsonFields& fields, Expectation* expect);
void ReadTaints(JsonFields& fields, std::vector<Taint>* taints);
void ReadTolerations(JsonFields& fields, std::vector<Toleration>* out);
// A list of {key, operator, values}.
void ReadRequirements(JsonFields& fields, const char* name,
                      std::vector<Requirement>* out);
AssignmentSpec ReadAssignment(const Json& value, const std::string& path,
                              ReadLog* log);
// Reads the member only if it is false, 0, "" or empty; another value stays
// unread, and so is reported: nothing here would give it its meaning.
void ReadIfNeutral(JsonFields& fields, const char* name);

}  // namespace muster::conformance
