#include "adapters/local/shim/shim_image.h"

#include <algorithm>

#include "adapters/local/shim/shim_path.h"

namespace muster::local {
namespace {

bool IsGood(const ShimBind& bind) {
  return IsAbsolute(bind.source) && IsPlace(bind.target);
}

}  // namespace

std::string ProblemOf(const ShimImage& image) {
  if (image.root.empty()) {
    return image == ShimImage{} ? "" : "image: has no directory";
  }
  if (!IsAbsolute(image.root)) return "image: expected an absolute path";
  if (!IsAbsolute(image.program)) {
    return "image: expected the absolute path of a program";
  }
  if (std::ranges::any_of(image.options, HasNul)) return "image: has a NUL";
  if (!std::ranges::all_of(image.binds, IsGood)) {
    return "image: expected absolute paths of what is there, too, and no '/'";
  }
  return "";
}

void Add(const ShimImage& image, RecordWriter* out) {
  if (image.root.empty()) return;
  out->Add("image_root", image.root);
  out->Add("image_program", image.program);
  for (const std::string& option : image.options) {
    out->Add("image_option", option);
  }
  for (const ShimBind& bind : image.binds) {
    out->Add("bind", bind.source);
    out->Add("bind_target", bind.target);
    out->Add("bind_read_only", bind.read_only ? 1 : 0);
    out->Add("bind_optional", bind.optional ? 1 : 0);
  }
}

bool DecodeImageField(std::string_view name, std::string_view value,
                      ShimImage* image) {
  if (name == "image_root") {
    image->root = value;
  } else if (name == "image_program") {
    image->program = value;
  } else if (name == "image_option") {
    image->options.emplace_back(value);
  } else if (name == "bind") {
    image->binds.push_back({.source = std::string(value)});
  } else if (name == "bind_target" && !image->binds.empty()) {
    image->binds.back().target = value;
  } else if (name == "bind_read_only" && !image->binds.empty()) {
    image->binds.back().read_only = value == "1";
  } else if (name == "bind_optional" && !image->binds.empty()) {
    image->binds.back().optional = value == "1";
  } else {
    return false;
  }
  return true;
}

}  // namespace muster::local
