// The part of DLPack's binary interface (version 1) for exchanging arrays. It is declared here, so
// the module depends on no framework or its headers.
//
// A type with `__dlpack_c_exchange_api__` has C functions to inspect its objects and to create new
// ones. PyTorch has it since 2.10; it takes a tenth of the time of going through Python.
#pragma once

#include <cstdint>

namespace leapp::python::dlpack {

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};

struct Device {
  std::int32_t type;
  std::int32_t id;

  bool operator==(const Device&) const = default;
};
inline constexpr std::int32_t kCpu = 1;
inline constexpr std::int32_t kCuda = 2;
inline constexpr std::int32_t kCudaHost = 3;

struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;

  bool operator==(const DataType&) const = default;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; before version 1.2 null means contiguous
  std::uint64_t byte_offset;
};

/// Content of a "dltensor" capsule from `__dlpack__()`.
struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};

/// Result of the exchange functions.
struct VersionedTensor {
  Version version;
  void* context;
  void (*deleter)(VersionedTensor*);
  std::uint64_t flags;
  Tensor tensor;
};

/// The table behind the capsule "dlpack_exchange_api". All functions need the interpreter lock.
struct ExchangeApi {
  Version version;
  ExchangeApi* previous;
  int (*allocate)(Tensor* prototype, VersionedTensor** out, void* context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*export_owned)(void* object, VersionedTensor** out);
  int (*import_owned)(VersionedTensor* tensor, void** out_object);  ///< takes the tensor
  int (*export_borrowed)(void* object, Tensor* out);  ///< may be null; valid until Python code runs
  int (*current_stream)(std::int32_t device_type, std::int32_t device_id, void** out);
};

}  // namespace leapp::python::dlpack
