// fuzz_seeds FOLDER: writes the seeds of each target into FOLDER/TARGET, and
// the words of those that are text into FOLDER/TARGET.dict.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <utility>

#include "fuzz/targets.h"

namespace {

bool IsText(const std::string& bytes) {
  return std::ranges::all_of(
      bytes, [](unsigned char c) { return std::isprint(c) != 0 || c == '\n'; });
}

void AddWords(const std::string& text, std::set<std::string>* words) {
  std::string word;
  for (const char c : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
        c == '-') {
      word += c;
    } else if (!word.empty()) {
      words->insert(std::exchange(word, {}));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: fuzz_seeds FOLDER\n";
    return 2;
  }
  for (const muster::fuzz::Target& target : muster::fuzz::kTargets) {
    const auto folder = std::filesystem::path(argv[1]) / target.name;
    std::filesystem::create_directories(folder);
    std::set<std::string> words;
    for (const muster::fuzz::Seed& seed : muster::fuzz::Seeds(target.name)) {
      std::ofstream out(folder / seed.name, std::ios::binary);
      out << seed.bytes;
      if (!out.good()) {
        std::cerr << folder / seed.name << ": cannot be written\n";
        return 1;
      }
      if (IsText(seed.bytes)) AddWords(seed.bytes, &words);
    }
    std::ofstream dict(folder.string() + ".dict");
    for (const std::string& word : words) dict << '"' << word << "\"\n";
  }
  return 0;
}
