#include "trace_held_arrays.h"

#include <c10/util/flat_hash_map.h>
#include <torch/csrc/autograd/python_variable.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "trace_internals.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

// Contents are compared up to this size: of one array, and of all of them.
constexpr std::size_t kMostOfOne = std::size_t{4} << 20;
constexpr std::size_t kMostOfAll = std::size_t{64} << 20;

// Maximum number of frames that are searched for arrays in variables.
constexpr int kMostSearched = 64;

// Collects arrays and NumPy numbers from the objects of the garbage collector. Creates no Python
// object, so that the collector does not run.
class Search {
 public:
  Search()
      : array_(py::module_::import("numpy").attr("ndarray")),
        number_(py::module_::import("numpy").attr("generic")),
        tensor_(py::module_::import("torch").attr("Tensor")) {}

  void visit_all() {
    const py::list objects = py::module_::import("gc").attr("get_objects")();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(objects.ptr()); ++i) {
      look_into(PyList_GET_ITEM(objects.ptr(), i));
    }
  }

  void visit(PyObject* value) {
    meet(value);
    follow();
  }

  std::vector<py::object> arrays;
  std::vector<at::Tensor> tensors;
  std::unordered_set<const PyObject*> numbers;

 private:
  void look_into(PyObject* holder) {
    if (const traverseproc traverse = Py_TYPE(holder)->tp_traverse) {
      traverse(holder, &Search::on_item, this);
    }
    follow();
  }

  static int on_item(PyObject* item, void* self) {
    static_cast<Search*>(self)->meet(item);
    return 0;
  }

  enum class Kind : std::uint8_t { kOther, kArray, kTensor, kNumber, kContainer };

  void meet(PyObject* item) {
    switch (kind_of(Py_TYPE(item))) {
      case Kind::kOther:
        return;
      case Kind::kArray:
        if (seen_.insert(item).second) arrays.push_back(py::reinterpret_borrow<py::object>(item));
        return;
      case Kind::kTensor:
        if (seen_.insert(item).second) tensors.push_back(THPVariable_Unpack(item));
        return;
      case Kind::kNumber:
        numbers.insert(item);
        return;
      case Kind::kContainer:
        // The collector does not know dicts and tuples that contain only arrays and plain values.
        if (PyObject_GC_IsTracked(item) == 0 && seen_.insert(item).second) todo_.push_back(item);
        return;
    }
  }

  // A process with PyTorch holds millions of references to objects of a few thousand types.
  Kind kind_of(PyTypeObject* type) {
    const auto [known, is_new] = kinds_.emplace(type, Kind::kOther);
    if (!is_new) return known->second;
    if (PyType_IsSubtype(type, type_of(array_)) != 0) {
      known->second = Kind::kArray;
    } else if (PyType_IsSubtype(type, type_of(tensor_)) != 0) {
      known->second = Kind::kTensor;
    } else if (PyType_IsSubtype(type, type_of(number_)) != 0) {
      known->second = Kind::kNumber;
    } else if (type == &PyDict_Type || type == &PyTuple_Type) {
      known->second = Kind::kContainer;
    }
    return known->second;
  }

  void follow() {
    while (!todo_.empty()) {
      PyObject* holder = todo_.back();
      todo_.pop_back();
      Py_TYPE(holder)->tp_traverse(holder, &Search::on_item, this);
    }
  }

  static PyTypeObject* type_of(const py::object& type) {
    return reinterpret_cast<PyTypeObject*>(type.ptr());
  }

  py::object array_;
  py::object number_;
  py::object tensor_;
  ska::flat_hash_map<const PyTypeObject*, Kind> kinds_;
  std::unordered_set<const PyObject*> seen_;
  std::vector<PyObject*> todo_;
};

// The array at the end of a chain of views, whose memory is its own or not NumPy's.
py::array owner_of(py::array array) {
  while (true) {
    const py::object base = array.base();
    if (!base || !py::isinstance<py::array>(base)) return array;
    array = py::reinterpret_borrow<py::array>(base);
  }
}

// The first byte, and the one behind the last.
std::pair<const std::byte*, const std::byte*> range_of(const py::array& array) {
  const auto* first = static_cast<const std::byte*>(array.data());
  const std::byte* end = first + array.itemsize();
  if (array.size() == 0) return {first, first};
  for (py::ssize_t axis = 0; axis < array.ndim(); ++axis) {
    const py::ssize_t distance = (array.shape(axis) - 1) * array.strides(axis);
    (distance < 0 ? first : end) += distance;
  }
  return {first, end};
}

std::uint64_t checksum_of(const std::byte* begin, const std::byte* end) {
  const std::string_view bytes(reinterpret_cast<const char*>(begin),
                               static_cast<std::size_t>(end - begin));
  return std::hash<std::string_view>()(bytes);
}

}  // namespace

HeldArrays::HeldArrays() : bytes_left_(kMostOfAll) {
  Search search;
  search.visit_all();
  py::object frame = current_frame();
  for (int depth = 0; frame && depth < kMostSearched; ++depth) {
    for (const py::handle variable : variables_of(frame)) {
      search.visit(PyTuple_GET_ITEM(variable.ptr(), 1));
    }
    frame = caller_of(frame);
  }
  for (const py::object& array : search.arrays) add(py::reinterpret_borrow<py::array>(array));
  for (const at::Tensor& tensor : search.tensors) add(tensor);
  numbers_ = std::move(search.numbers);
}

void HeldArrays::add(const py::array& array) {
  const py::array owner = owner_of(array);
  const auto [begin, end] = range_of(owner);
  Memory& memory = memory_[begin];
  if (memory.end != nullptr && memory.end >= end) return;
  memory = {.end = end, .owner = py::weakref(py::handle(owner.ptr()))};
  const bool is_dense = (owner.flags() & (py::array::c_style | py::array::f_style)) != 0;
  if (is_dense && !owner.dtype().attr("hasobject").cast<bool>()) note_content(begin, memory);
}

void HeldArrays::add(const at::Tensor& tensor) {
  const bool has_memory = tensor.defined() && tensor.layout() == at::kStrided &&
                          tensor.device().is_cpu() && tensor.has_storage();
  if (!has_memory || tensor.requires_grad() || tensor.storage().data() == nullptr) return;
  const auto* begin = static_cast<const std::byte*>(tensor.storage().data());
  const std::byte* const end = begin + tensor.storage().nbytes();
  Memory& memory = memory_[begin];
  if (memory.end != nullptr && memory.end >= end) return;
  memory = {.end = end, .storage = tensor.storage().getWeakStorageImpl()};
  note_content(begin, memory);
}

void HeldArrays::note_content(const std::byte* begin, Memory& memory) {
  const auto size = static_cast<std::size_t>(memory.end - begin);
  memory.compared = size <= std::min(kMostOfOne, bytes_left_);
  if (!memory.compared) return;
  bytes_left_ -= size;
  memory.checksum = checksum_of(begin, memory.end);
}

HeldArrays::Verdict HeldArrays::verdict_on(const py::array& array) const {
  const auto [begin, end] = range_of(array);
  return verdict_on(begin, end);
}

HeldArrays::Verdict HeldArrays::verdict_on(const at::Tensor& tensor) const {
  const bool has_memory = tensor.layout() == at::kStrided && tensor.device().is_cpu() &&
                          tensor.has_storage() && tensor.storage().data() != nullptr;
  if (!has_memory) return Verdict::kUnknown;
  const auto* begin = static_cast<const std::byte*>(tensor.const_data_ptr());
  return verdict_on(begin, begin + tensor.element_size());
}

HeldArrays::Verdict HeldArrays::verdict_on(const std::byte* begin, const std::byte* end) const {
  auto found = memory_.upper_bound(begin);
  if (found == memory_.begin()) return Verdict::kUnknown;
  --found;
  const auto& [first, memory] = *found;
  const bool is_alive = memory.owner ? !memory.owner().is_none() : !memory.storage->expired();
  if (end > memory.end || !is_alive) return Verdict::kUnknown;
  const bool changed = memory.compared && checksum_of(first, memory.end) != memory.checksum;
  return changed ? Verdict::kChanged : Verdict::kHeld;
}

void bind_held_arrays(py::module_& module) {
  py::class_<HeldArrays>(module, "HeldArrays")
      .def(py::init<>())
      .def("verdict_on",
           [](const HeldArrays& held, const py::array& array) {
             switch (held.verdict_on(array)) {
               case HeldArrays::Verdict::kHeld:
                 return "held";
               case HeldArrays::Verdict::kChanged:
                 return "changed";
               case HeldArrays::Verdict::kUnknown:
                 break;
             }
             return "unknown";
           })
      .def("holds_number", &HeldArrays::holds_number);
}

}  // namespace leapp::python
