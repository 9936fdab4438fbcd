#include "session/warm_up.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/div.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/sub.h>

#include "session/completion.h"
#include "session/declarations.h"
#include "session/session_lock.h"

namespace leapp::session {

void warm_up() {
  const c10::impl::ExcludeDispatchKeyGuard own_operators_only(c10::python_ks);
  const at::Tensor one(at::detail::empty_cpu({1, 1}, at::TensorOptions(at::kFloat)));
  Session session;
  at::Tensor x;
  {
    const SessionLock data(session);
    data->active = true;
    x = add_inputs(*data, "warm_up", {{"x", one}}, {}).handles.front();
  }
  const trace::Observing observing(session.recorder());
  // Typical operators of a policy.
  const at::Tensor observed = at::cat({at::div(at::sub(x, one), one), one});
  const at::Tensor y = at::clamp(at::linear(observed, one, one), -1, 1);
  const SessionLock data(session);
  const bool seen = data->tape.owner_of(y) != kNoId;
  if (seen) complete_pass(*data, data->nodes.at(0), {{"y", y}}, {}, {});
}

}  // namespace leapp::session
