// The bundle of the fuzzed golden traces and recordings: one node with a state.
#pragma once

#include "leapp/bundle.h"

inline leapp::Bundle one_policy() {
  using leapp::DType;
  leapp::Model model;
  model.name = "policy";
  model.inputs = {{.name = "obs", .dtype = DType::kFloat32, .shape = {1, 3}},
                  {.name = "memory", .dtype = DType::kInt64, .shape = {2}}};
  model.outputs = {{.name = "action", .dtype = DType::kFloat32, .shape = {1, 2}},
                   {.name = "next", .dtype = DType::kInt64, .shape = {2}}};
  leapp::Bundle bundle;
  bundle.models = {model};
  bundle.pipeline.inputs = {{"policy", {"obs"}}};
  bundle.pipeline.outputs = {{"policy", {"action"}}};
  bundle.pipeline.feedback_flow = {{{"policy", "next"}, {{"policy", "memory"}}}};
  return bundle;
}
