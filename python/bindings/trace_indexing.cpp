// Indexing by a number that may vary: ring[head] where `head` is a 0-d integer tensor.
//
// PyTorch reads such an index as a Python number before any operator runs, so the number of the
// traced pass would be exported. Here it is said with operators that take the index as a tensor.
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "session/front_end.h"
#include "trace/dynamic_index_views.h"
#include "trace_bind.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

// An index without its numbers that may vary.
struct Split {
  py::tuple rest;                    // with full slices in their places
  std::vector<at::Tensor> numbers;   // those numbers
  std::vector<std::int64_t> places;  // their dimensions after `rest` was applied
};

bool may_vary(const py::handle& item) {
  if (!THPVariable_Check(item.ptr())) return false;
  const at::Tensor& tensor = THPVariable_Unpack(item.ptr());
  if (tensor.dim() != 0 || !at::isIntegralType(tensor.scalar_type(), false)) return false;
  if (is_unobserved()) return false;
  return unlocked([&] { return front_end::may_vary(tensor); });
}

// How many dimensions of the tensor an item of an index stands for.
bool takes_dimension(const py::handle& item) {
  return !item.is_none() && item.ptr() != Py_Ellipsis;
}

// Nothing where nothing is to be done: no such number, or other tensors in the index, which PyTorch
// handles as tensors.
std::optional<Split> split(const at::Tensor& of, const py::handle& index) {
  const bool several = PyTuple_Check(index.ptr());
  const py::tuple items =
      several ? py::reinterpret_borrow<py::tuple>(index) : py::make_tuple(index);
  const auto taken = std::count_if(items.begin(), items.end(), takes_dimension);
  Split found{py::tuple(items.size()), {}, {}};
  bool simple = true;
  std::int64_t place = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const py::object item = items[i];
    if (may_vary(item)) {
      found.numbers.push_back(THPVariable_Unpack(item.ptr()));
      found.places.push_back(place++);
      found.rest[i] = py::slice(std::nullopt, std::nullopt, std::nullopt);
      continue;
    }
    found.rest[i] = item;
    const bool is_slice = PySlice_Check(item.ptr());
    simple = simple && (is_slice || !takes_dimension(item) || PyLong_Check(item.ptr()));
    place += item.ptr() == Py_Ellipsis ? of.dim() - taken : is_slice || item.is_none() ? 1 : 0;
  }
  return simple && !found.numbers.empty() ? std::optional(std::move(found)) : std::nullopt;
}

at::Tensor view_of(const py::object& tensor, const Split& index) {
  return py::object(tensor[index.rest]).cast<at::Tensor>();
}

py::object get_item(const py::object& tensor, const py::object& index) {
  const auto found = split(tensor.cast<at::Tensor>(), index);
  if (!found) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  const at::Tensor view = view_of(tensor, *found);
  return py::cast(
      unlocked([&] { return front_end::index_view(view, found->places, found->numbers); }));
}

bool set_item(const py::object& tensor, const py::object& index, const py::object& given) {
  const auto of = tensor.cast<at::Tensor>();
  const auto found = split(of, index);
  if (!found) return false;
  const bool is_tensor = THPVariable_Check(given.ptr());
  if (is_tensor) {  // tensor[number] += 1
    const auto copy = given.cast<at::Tensor>();
    unlocked([&] { front_end::begin_write_back(copy, of, found->numbers); });
  }
  const at::Tensor view = view_of(tensor, *found);
  const py::object value = is_tensor ? given
                                     : py::object(py::module_::import("torch").attr("tensor")(
                                           given, py::arg("dtype") = tensor.attr("dtype"),
                                           py::arg("device") = tensor.attr("device")));
  std::vector<std::int64_t> shape;
  for (std::int64_t i = 0; i < view.dim(); ++i) {
    if (std::count(found->places.begin(), found->places.end(), i) == 0)
      shape.push_back(view.size(i));
  }
  const auto what = value.cast<at::Tensor>();
  unlocked([&] {
    trace::index_write(view, found->places, found->numbers,
                       what.to(view.scalar_type()).expand(shape));
  });
  return true;
}

}  // namespace

void bind_indexing(py::module_& module) {
  module.def("get_item", &get_item, py::arg("tensor"), py::arg("index"));
  module.def("set_item", &set_item, py::arg("tensor"), py::arg("index"), py::arg("value"));
}

}  // namespace leapp::python
