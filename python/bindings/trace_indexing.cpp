// Indexing by a number that may vary: ring[head] where `head` is a 0-d integer tensor.
//
// PyTorch reads such an index as a Python number before any operator runs, so LEAPP would export
// the number of the traced pass. Operators that take the index as a tensor replace the indexing
// here.
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>

#include <optional>
#include <vector>

#include "session/front_end.h"
#include "trace/index_expression.h"
#include "trace_bind.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

using trace::IndexItem;

// An index expression whose traced numbers were replaced by full slices.
struct Split {
  py::tuple rest;
  std::vector<at::Tensor> numbers;
  std::vector<std::int64_t> dims;  // dimensions of the numbers in the result of `rest`
};

bool may_vary(const py::handle& item) {
  if (!THPVariable_Check(item.ptr())) return false;
  const at::Tensor& tensor = THPVariable_Unpack(item.ptr());
  if (tensor.dim() != 0 || !at::isIntegralType(tensor.scalar_type(), false)) return false;
  if (is_unobserved()) return false;
  return unlocked([&] { return front_end::may_vary(tensor); });
}

IndexItem kind_of(const py::handle& item) {
  if (item.is_none()) return IndexItem::kNewAxis;
  if (item.ptr() == Py_Ellipsis) return IndexItem::kEllipsis;
  if (PySlice_Check(item.ptr())) return IndexItem::kSlice;
  if (PyLong_Check(item.ptr())) return IndexItem::kNumber;
  return may_vary(item) ? IndexItem::kTraced : IndexItem::kOther;
}

// Returns nothing if plain indexing gives the same.
std::optional<Split> split(const at::Tensor& of, const py::handle& index) {
  const bool several = PyTuple_Check(index.ptr());
  const py::tuple items =
      several ? py::reinterpret_borrow<py::tuple>(index) : py::make_tuple(index);
  Split found{py::tuple(items.size()), {}, {}};
  std::vector<IndexItem> kinds;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const py::object item = items[i];
    kinds.push_back(kind_of(item));
    const bool traced = kinds.back() == IndexItem::kTraced;
    if (traced) found.numbers.push_back(THPVariable_Unpack(item.ptr()));
    found.rest[i] = traced ? py::object(py::slice(std::nullopt, std::nullopt, std::nullopt)) : item;
  }
  auto dims = trace::traced_dims(kinds, of.dim());
  if (!dims) return std::nullopt;
  found.dims = std::move(*dims);
  return found;
}

at::Tensor view_of(const py::object& tensor, const Split& index) {
  return py::object(tensor[index.rest]).cast<at::Tensor>();
}

py::object get_item(const py::object& tensor, const py::object& index) {
  const auto found = split(tensor.cast<at::Tensor>(), index);
  if (!found) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  const at::Tensor view = view_of(tensor, *found);
  return py::cast(
      unlocked([&] { return front_end::index_view(view, found->dims, found->numbers); }));
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
  const auto assigned = value.cast<at::Tensor>();
  unlocked([&] { trace::index_assign(view, found->dims, found->numbers, assigned); });
  return true;
}

// A type whose subclasses support self[index], through their method _item(), but that are not
// sequences: a __getitem__() of Python would make them both.
py::object make_subscriptable() {
  const auto item = [](PyObject* self, PyObject* index) {
    return PyObject_CallMethod(self, "_item", "(O)", index);
  };
  static constexpr binaryfunc subscript = item;
  PyType_Slot slots[] = {{Py_mp_subscript, reinterpret_cast<void*>(subscript)}, {0, nullptr}};
  PyType_Spec spec = {"leapp._trace.Subscriptable", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      slots};
  return py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
}

}  // namespace

void bind_indexing(py::module_& module) {
  module.attr("Subscriptable") = make_subscriptable();
  module.def("get_item", &get_item, py::arg("tensor"), py::arg("index"));
  module.def("set_item", &set_item, py::arg("tensor"), py::arg("index"), py::arg("value"));
}

}  // namespace leapp::python
