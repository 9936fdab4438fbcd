#include "compile/rerun.h"

#include "trace/functional.h"
#include "trace/op_traits.h"
#include "trace/wrapped_number.h"

namespace leapp::compile {

namespace {

struct Rerun {
  const Sources& sources;
  trace::Tape& tape;
  trace::NodeId node;
  std::map<const session::BetweenCall*, std::vector<Known>> results =
      {};  // operands of calls that ran

  Known value_of(const session::Route& route) {
    if (!route.call) return sources.at(route.port);
    const auto done = results.find(route.call.get());
    if (done != results.end()) return done->second.at(route.result);
    return results.emplace(route.call.get(), run(*route.call)).first->second.at(route.result);
  }

  std::vector<Known> run(const session::BetweenCall& call) {
    static const auto clone = c10::Dispatcher::singleton().findSchemaOrThrow("aten::clone", "");
    torch::jit::Stack stack;
    std::vector<trace::VarId> vars;
    auto next = call.routes.begin();
    for (const c10::IValue& argument : call.arguments) {
      stack.push_back(trace::map_tensors(argument, [&](const at::Tensor& constant) {
        const std::optional<session::Route>& route = *next++;
        const bool is_number = !constant.defined() || trace::is_wrapped_number(constant);
        const Known known = route       ? value_of(*route)
                            : is_number ? Known{constant}
                                        : Known{constant, tape.add_outside(constant, true)};
        vars.push_back(known.var);
        return known.tensor;
      }));
    }
    if (trace::traits_of(call.op).mutates) {
      const Known copy =
          record_call(clone, {stack.front(), c10::IValue()}, {vars.front()}, call.where, node, tape)
              .front();
      stack.front() = copy.tensor;
      vars.front() = copy.var;
    }
    return record_call(call.op, std::move(stack), vars, call.where, node, tape);
  }
};

}  // namespace

std::vector<Known> record_call(const c10::OperatorHandle& op, torch::jit::Stack arguments,
                               const std::vector<trace::VarId>& vars, trace::FrameRef where,
                               trace::NodeId node, trace::Tape& tape) {
  std::vector<trace::Arg> recorded;
  auto next = vars.begin();
  for (const c10::IValue& argument : arguments) {
    recorded.push_back(tape.argument_of(argument, [&](const at::Tensor&) { return *next++; }));
  }
  op.callBoxed(&arguments);
  const std::size_t writes = trace::traits_of(op).mutates ? 1 : 0;
  tape.append(op, where, node, recorded, std::span(vars).first(writes), arguments);
  std::vector<Known> made;
  trace::for_each_tensor(std::span(arguments), [&](const at::Tensor& tensor) {
    made.push_back({tensor, *tape.find(tensor)});
  });
  return made;
}

Known rerun(const session::Route& route, const Sources& sources, trace::Tape& tape,
            trace::NodeId node) {
  return Rerun{sources, tape, node}.value_of(route);
}

}  // namespace leapp::compile
