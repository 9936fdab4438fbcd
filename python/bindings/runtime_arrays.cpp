#include "runtime_arrays.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/strided_copy.h"
#include "leapp/error.h"

namespace leapp::python {
namespace {

// DLPack's type codes.
constexpr std::array<std::pair<DType, dlpack::DataType>, 17> kDlpackTypes{{
    {DType::kBool, {6, 8, 1}},
    {DType::kUInt8, {1, 8, 1}},
    {DType::kInt8, {0, 8, 1}},
    {DType::kUInt16, {1, 16, 1}},
    {DType::kInt16, {0, 16, 1}},
    {DType::kUInt32, {1, 32, 1}},
    {DType::kInt32, {0, 32, 1}},
    {DType::kUInt64, {1, 64, 1}},
    {DType::kInt64, {0, 64, 1}},
    {DType::kFloat8E4M3FN, {10, 8, 1}},
    {DType::kFloat8E5M2, {12, 8, 1}},
    {DType::kFloat16, {2, 16, 1}},
    {DType::kBFloat16, {4, 16, 1}},
    {DType::kFloat32, {2, 32, 1}},
    {DType::kFloat64, {2, 64, 1}},
    {DType::kComplex64, {5, 64, 1}},
    {DType::kComplex128, {5, 128, 1}},
}};

std::optional<DType> from_dlpack(const dlpack::DataType& type) {
  for (const auto& [dtype, code] : kDlpackTypes) {
    if (code == type) return dtype;
  }
  return std::nullopt;
}

dlpack::DataType to_dlpack(DType dtype) {
  for (const auto& [known, code] : kDlpackTypes) {
    if (known == dtype) return code;
  }
  return {};
}

// NumPy's own types are identified by kind and size; those of ml_dtypes by name.
std::optional<DType> from_numpy(const py::array& array) {
  const py::dtype dtype = array.dtype();
  if (dtype.byteorder() == '>') return std::nullopt;  // another byte order than this machine's
  switch (dtype.char_()) {
    case '?':
      return DType::kBool;
    case 'e':
      return DType::kFloat16;
    case 'f':
      return DType::kFloat32;
    case 'd':
      return DType::kFloat64;
    case 'F':
      return DType::kComplex64;
    case 'D':
      return DType::kComplex128;
    default:
      break;
  }
  const py::ssize_t size = dtype.itemsize();
  if (dtype.kind() == 'i') {
    return size == 1   ? DType::kInt8
           : size == 2 ? DType::kInt16
           : size == 4 ? DType::kInt32
                       : DType::kInt64;
  }
  if (dtype.kind() == 'u') {
    return size == 1   ? DType::kUInt8
           : size == 2 ? DType::kUInt16
           : size == 4 ? DType::kUInt32
                       : DType::kUInt64;
  }
  return dtype_from_name(py::str(dtype.attr("name")).cast<std::string>());
}

// An array in memory of another owner. Strides are in bytes.
struct Borrowed {
  const void* data = nullptr;
  std::optional<DType> dtype;
  std::span<const std::int64_t> shape;
  std::array<std::int64_t, 64> strides{};
  bool writable = true;
  dlpack::Device device{dlpack::kCpu, 0};
  py::handle owner;  // keeps the memory

  bool on_host() const { return device.type == dlpack::kCpu || device.type == dlpack::kCudaHost; }

  StridedElements elements() const {
    const std::size_t size = dtype ? size_of(*dtype) : 0;
    return {data, shape, std::span(strides).first(shape.size()), size};
  }
};

Error not_an_array(py::handle object, const std::string& port) {
  return Error(Code::kWrongType, "input " + port + " is a " +
                                     std::string(py::str(py::type::of(object).attr("__name__"))) +
                                     ", expected a torch tensor or a NumPy array");
}

// Looks up the table once per type. A short list is enough for the few types of a program.
const dlpack::ExchangeApi* exchange_api(py::handle type) {
  static std::vector<std::pair<PyObject*, const dlpack::ExchangeApi*>> known;
  for (const auto& [seen, api] : known) {
    if (seen == type.ptr()) return api;
  }
  const dlpack::ExchangeApi* api = nullptr;
  if (py::hasattr(type, "__dlpack_c_exchange_api__")) {
    const py::object capsule = type.attr("__dlpack_c_exchange_api__");
    api = static_cast<const dlpack::ExchangeApi*>(
        PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    if (api == nullptr) PyErr_Clear();
    while (api != nullptr && api->version.major != 1) api = api->previous;
    if (api != nullptr && api->export_borrowed == nullptr) api = nullptr;
  }
  known.emplace_back(py::reinterpret_borrow<py::object>(type).release().ptr(), api);
  return api;
}

Borrowed from_dlpack(const dlpack::Tensor& tensor) {
  Borrowed array;
  if (static_cast<std::size_t>(tensor.ndim) > array.strides.size()) {
    throw Error(Code::kPortShape, "a tensor has " + std::to_string(tensor.ndim) +
                                      " dimensions, more than a port can have");
  }
  if (tensor.data != nullptr) {
    array.data = static_cast<const char*>(tensor.data) + tensor.byte_offset;
  }
  array.dtype = from_dlpack(tensor.dtype);
  array.shape = {tensor.shape, static_cast<std::size_t>(tensor.ndim)};
  array.device = tensor.device;
  const std::int64_t size = tensor.dtype.bits / 8;
  std::int64_t packed = size;
  for (std::size_t i = array.shape.size(); i-- > 0;) {
    array.strides[i] = tensor.strides != nullptr ? tensor.strides[i] * size : packed;
    packed *= array.shape[i];
  }
  return array;
}

bool answers_yes(py::handle tensor, PyObject* question) {
  PyObject* answer = PyObject_CallMethodNoArgs(tensor.ptr(), question);
  if (answer == nullptr) {
    PyErr_Clear();  // not of torch: such arrays are never lazy
    return false;
  }
  const bool yes = answer == Py_True;
  Py_DECREF(answer);
  return yes;
}

// Torch negates and conjugates lazily: the memory then does not contain the values.
bool is_negated(py::handle tensor) {
  static PyObject* const question = PyUnicode_InternFromString("is_neg");
  return answers_yes(tensor, question);
}
bool is_conjugated(py::handle tensor) {
  static PyObject* const question = PyUnicode_InternFromString("is_conj");
  return answers_yes(tensor, question);
}

// Calls `use` with the array of an object, which is kept alive during the call.
template <typename Use>
void with_array(py::handle object, const std::string& port, const Use& use) {
  if (const dlpack::ExchangeApi* api = exchange_api(py::type::handle_of(object))) {
    dlpack::Tensor tensor{};
    if (api->export_borrowed(object.ptr(), &tensor) != 0) throw py::error_already_set();
    if (is_negated(object) || (tensor.dtype.code == 5 && is_conjugated(object))) {
      return with_array(object.attr("resolve_neg")().attr("resolve_conj")(), port, use);
    }
    Borrowed borrowed = from_dlpack(tensor);
    borrowed.owner = object;
    return use(borrowed);
  }
  if (py::isinstance<py::array>(object)) {
    const auto array = py::reinterpret_borrow<py::array>(object);
    Borrowed borrowed;
    borrowed.data = array.data();
    borrowed.dtype = from_numpy(array);
    borrowed.shape = {reinterpret_cast<const std::int64_t*>(array.shape()),
                      static_cast<std::size_t>(array.ndim())};
    std::copy_n(array.strides(), array.ndim(), borrowed.strides.begin());
    borrowed.writable = array.writeable();
    borrowed.owner = object;
    return use(borrowed);
  }
  if (!py::hasattr(object, "__dlpack__")) throw not_an_array(object, port);
  // A torch without the exchange functions refuses tensors that require gradients, and returns the
  // memory of lazily negated ones unchanged.
  auto plain = py::reinterpret_borrow<py::object>(object);
  for (const char* method : {"detach", "resolve_neg", "resolve_conj"}) {
    if (py::hasattr(plain, method)) plain = plain.attr(method)();
  }
  const py::object capsule = plain.attr("__dlpack__")();
  const auto* managed =
      static_cast<const dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (managed == nullptr) throw py::error_already_set();
  Borrowed borrowed = from_dlpack(managed->tensor);
  borrowed.owner = capsule;
  use(borrowed);
}

void check_fit(const Borrowed& array, const TensorView& buffer, const std::string& port) {
  if (array.dtype != buffer.dtype) {
    throw Error(Code::kPortType,
                "input " + port + " is " +
                    (array.dtype ? std::string(name_of(*array.dtype)) : "of another type") +
                    ", expected " + std::string(name_of(buffer.dtype)));
  }
  if (!std::equal(array.shape.begin(), array.shape.end(), buffer.shape.begin(),
                  buffer.shape.end())) {
    throw Error(Code::kPortShape, "input " + port + " has shape " +
                                      to_string(Shape(array.shape.begin(), array.shape.end())) +
                                      ", expected " + to_string(buffer.shape));
  }
  if (array.data == nullptr && buffer.byte_size() != 0) {
    throw Error(Code::kWrongValue,
                "input " + port +
                    " is a tensor without memory: a fake or functional one, or one whose storage "
                    "was resized to 0. Pass a tensor with values");
  }
}

}  // namespace

void read_array(py::handle object, const TensorView& buffer, const std::string& port) {
  bool on_host = true;
  with_array(object, port, [&](const Borrowed& array) {
    check_fit(array, buffer, port);
    on_host = array.on_host();
    const std::size_t bytes = buffer.byte_size();
    if (bytes == 0 || !on_host) return;
    if (is_contiguous(array.elements())) {
      std::memcpy(buffer.data, array.data, bytes);
    } else {
      copy_strided(array.elements(), buffer.data);
    }
  });
  if (!on_host) read_array(object.attr("cpu")(), buffer, port);
}

BorrowedMemory borrow_array(py::handle object, const std::optional<dlpack::Device>& device,
                            const TensorView& expected, const std::string& port, bool writable) {
  if (is_negated(object) || is_conjugated(object)) {
    throw Error(Code::kBadBinding, "the tensor bound to " + port +
                                       " is negated or conjugated lazily, so its memory does not "
                                       "contain its values; bind a clone of it");
  }
  BorrowedMemory memory;
  with_array(object, port, [&](const Borrowed& array) {
    check_fit(array, expected, port);
    if (device ? array.device != *device : !array.on_host()) {
      throw Error(Code::kBadBinding, "the array bound to " + port + " must be on " +
                                         (device ? "the manager's device" : "the host"));
    }
    if (!is_contiguous(array.elements())) {
      throw Error(Code::kBadBinding, "the array bound to " + port + " must be contiguous");
    }
    if (writable && !array.writable) {
      throw Error(Code::kBadBinding, "the array bound to " + port + " is read-only");
    }
    memory = {const_cast<void*>(array.data), py::reinterpret_borrow<py::object>(array.owner)};
  });
  return memory;
}

std::optional<dlpack::Device> parse_device(const std::string& device) {
  if (device == "cpu") return std::nullopt;
  const std::size_t colon = device.find(':');
  const int index = colon == std::string::npos ? 0 : std::stoi(device.substr(colon + 1));
  return dlpack::Device{dlpack::kCuda, index};
}

const void* find_on_device(py::handle object, const dlpack::Device& device,
                           const TensorView& expected, const std::string& port) {
  const void* data = nullptr;
  with_array(object, port, [&](const Borrowed& array) {
    check_fit(array, expected, port);
    if (array.device == device && is_contiguous(array.elements())) data = array.data;
  });
  return data;
}

ArrayMaker::ArrayMaker(py::object torch) : torch_(std::move(torch)) {
  if (!torch_.is_none()) exchange_ = exchange_api(torch_.attr("Tensor"));
}

py::object ArrayMaker::make(const ConstTensorView& view) const {
  if (!is_torch()) return make_numpy(view);
  return make_on({dlpack::kCpu, 0}, view,
                 [&](void* to) { std::memcpy(to, view.data, view.byte_size()); });
}

py::object ArrayMaker::make_numpy(const ConstTensorView& view) const {
  const std::string name(name_of(view.dtype));
  py::object dtype;
  if (is_floating_point(view.dtype) && size_of(view.dtype) <= 2 && view.dtype != DType::kFloat16) {
    // NumPy lacks these types: uses those of ml_dtypes if it is installed, otherwise the bits.
    try {
      dtype = py::module_::import("ml_dtypes").attr(name.c_str());
    } catch (const py::error_already_set&) {
      dtype = py::str(size_of(view.dtype) == 2 ? "uint16" : "uint8");
    }
  } else {
    dtype = py::str(name);
  }
  py::array array(py::dtype::from_args(dtype), view.shape);
  if (const std::size_t bytes = view.byte_size(); bytes != 0) {
    std::memcpy(array.mutable_data(), view.data, bytes);
  }
  return array;
}

py::object ArrayMaker::make_on(const dlpack::Device& device, const ConstTensorView& like,
                               const std::function<void(void*)>& fill) const {
  if (exchange_ == nullptr) {
    py::object place = py::str("cpu");
    if (device.type == dlpack::kCuda) place = py::str("cuda:" + std::to_string(device.id));
    const py::object empty = torch_.attr("empty")(
        py::cast(like.shape),
        py::arg("dtype") = torch_.attr(std::string(name_of(like.dtype)).c_str()),
        py::arg("device") = place);
    if (like.byte_size() != 0) {
      fill(reinterpret_cast<void*>(empty.attr("data_ptr")().cast<std::uintptr_t>()));
    }
    return empty;
  }
  dlpack::Tensor prototype{};
  prototype.device = device;
  prototype.ndim = static_cast<std::int32_t>(like.shape.size());
  prototype.dtype = to_dlpack(like.dtype);
  prototype.shape = const_cast<std::int64_t*>(like.shape.data());
  dlpack::VersionedTensor* made = nullptr;
  std::string problem;
  const auto note = [](void* context, const char*, const char* message) {
    *static_cast<std::string*>(context) = message;
  };
  if (exchange_->allocate(&prototype, &made, &problem, note) != 0 || made == nullptr) {
    throw Error(Code::kInternal, "torch could not make a tensor: " + problem);
  }
  if (like.byte_size() != 0) {
    fill(static_cast<char*>(made->tensor.data) + made->tensor.byte_offset);
  }
  void* object = nullptr;
  if (exchange_->import_owned(made, &object) != 0) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(static_cast<PyObject*>(object));
}

}  // namespace leapp::python
