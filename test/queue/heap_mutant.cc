// Prints which program of heap_model.cc finds a fault, and what: the end of it
// is 0 if one does. For mutate_orders.py, which weakens the headers first.
#include <iostream>
#include <sstream>
#include <string>

#include "test/queue/heap_model.h"

int main() {
  using muster::test::ModelSearch;
  for (const auto& model : muster::test::Models()) {
    const auto result = model.run(ModelSearch::kBounded, 2);
    if (result.ok) continue;
    std::istringstream report(result.report);
    std::string type, fault;
    std::getline(report, type);
    std::getline(report, fault);
    std::cout << model.name << "\t" << fault << "\n";
    return 0;
  }
  return 1;
}
