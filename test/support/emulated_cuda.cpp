// A device "cuda" whose memory is the host's and whose kernels are the CPU's, for a PyTorch without CUDA.
//
// A tensor there has a storage of its own device around ordinary memory. Every operator that has no kernel for the
// device runs on CPU tensors that share that memory; what it returns is wrapped again, views as views.

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_native.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

namespace {

using c10::Device;
using c10::DeviceIndex;
using c10::DeviceType;
using c10::IValue;

constexpr auto kType = DeviceType::CUDA;
constexpr DeviceIndex kCount = 2;
thread_local DeviceIndex current = 0;

struct Guard final : c10::impl::NoOpDeviceGuardImpl<kType> {
  Device exchangeDevice(Device device) const override {
    const Device old = getDevice();
    setDevice(device);
    return old;
  }
  Device getDevice() const override {
    return Device(kType, current);
  }
  void setDevice(Device device) const override {
    if (device.has_index())
      current = device.index();
  }
  void uncheckedSetDevice(Device device) const noexcept override {
    if (device.has_index())
      current = device.index();
  }
  c10::Stream getStream(Device device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, Device(kType, device.has_index() ? device.index() : current));
  }
  c10::Stream getNewStream(Device device, int) const override {
    return getStream(device);
  }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override {
    return getStream(stream.device());
  }
  DeviceIndex deviceCount() const noexcept override {
    return kCount;
  }
  void record(void**, const c10::Stream&, const DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override {
    return true;
  }
};

struct CUDAHooks final : at::CUDAHooksInterface {
  explicit CUDAHooks(at::CUDAHooksArgs) {}
  bool hasCUDA() const override {
    return true;
  }
  bool isBuilt() const override {
    return true;
  }
  bool isAvailable() const override {
    return true;
  }
  bool hasPrimaryContext(DeviceIndex) const override {
    return true;
  }
  int getNumGPUs() const override {
    return kCount;
  }
  DeviceIndex deviceCount() const override {
    return kCount;
  }
  DeviceIndex current_device() const override {
    return current;
  }
  DeviceIndex getCurrentDevice() const override {
    return current;
  }
  void setCurrentDevice(DeviceIndex index) const override {
    current = index;
  }
  DeviceIndex exchangeDevice(DeviceIndex index) const override {
    return std::exchange(current, index);
  }
  DeviceIndex maybeExchangeDevice(DeviceIndex index) const override {
    return std::exchange(current, index);
  }
};

void release(void* context) {
  delete static_cast<c10::DataPtr*>(context);
}

// Memory of the host that says it were on `device`; `context` keeps it.
c10::DataPtr moved(c10::DataPtr memory, Device device) {
  auto* kept = new c10::DataPtr(std::move(memory));
  return {kept->get(), kept, &release, device};
}

// The memory of `tensor`, which lives as long, as if it were on `device`.
c10::DataPtr memory_of(const at::Tensor& tensor, Device device) {
  const auto drop = [](void* kept) { delete static_cast<at::Tensor*>(kept); };
  return {tensor.storage().mutable_data(), new at::Tensor(tensor), drop, device};
}

struct Allocator final : c10::Allocator {
  explicit Allocator(DeviceIndex index) : index(index) {}
  c10::DataPtr allocate(size_t bytes) override {
    return moved(c10::GetCPUAllocator()->allocate(bytes), Device(kType, index));
  }
  void copy_data(void* target, const void* source, size_t bytes) const override {
    default_copy_data(target, source, bytes);
  }
  DeviceIndex index;
};

Allocator* allocator(DeviceIndex index) {
  static Allocator first(0), second(1);
  return index == 0 ? &first : &second;
}

DeviceIndex index_of(std::optional<Device> device) {
  const DeviceIndex index = device && device->has_index() ? device->index() : current;
  TORCH_CHECK(index < kCount, "CUDA error: invalid device ordinal");
  return index;
}

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::CUDA);

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                 std::optional<Device> device, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(size, allocator(index_of(device)), kKeys, c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout>, std::optional<Device> device, std::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, allocator(index_of(device)), kKeys,
                                           c10::dtype_or_default(dtype));
}

// The aliases of one call: CPU tensors, each with the tensor of the device that it stands for.
struct Aliases {
  std::vector<std::pair<at::Tensor, at::Tensor>> pairs;
  std::optional<DeviceIndex> index;

  at::Tensor cpu(const at::Tensor& given) {
    if (!given.defined() || given.device().type() != kType)
      return given;
    if (!index || given.dim())
      index = given.device().index();
    for (const auto& [alias, original] : pairs)
      if (original.is_same(given))
        return alias;
    c10::Storage storage;
    for (const auto& [alias, original] : pairs)
      if (original.storage().is_alias_of(given.storage()))
        storage = alias.storage();
    if (!storage) {
      const auto& whole = given.storage();
      storage = c10::Storage(c10::Storage::use_byte_size_t(), whole.nbytes(),
                             c10::DataPtr(whole.mutable_data(), Device(DeviceType::CPU)), c10::GetCPUAllocator(), true);
    }
    auto alias = view_of(storage, c10::DispatchKeySet(c10::DispatchKey::CPU), given);
    pairs.emplace_back(alias, given);
    return alias;
  }

  at::Tensor device(const at::Tensor& made) {
    if (!made.defined() || made.device().type() != DeviceType::CPU)
      return made;
    for (const auto& [alias, original] : pairs)
      if (alias.is_same(made))
        return original;
    for (const auto& [alias, original] : pairs)
      if (alias.storage().is_alias_of(made.storage()))
        return view_of(original.storage(), kKeys, made);
    const auto& whole = made.storage();
    const DeviceIndex at = index.value_or(current);
    c10::Storage storage(c10::Storage::use_byte_size_t(), whole.nbytes(), memory_of(made, Device(kType, at)),
                         allocator(at), true);
    return view_of(storage, kKeys, made);
  }

  static at::Tensor view_of(const c10::Storage& storage, c10::DispatchKeySet keys, const at::Tensor& like) {
    auto tensor = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storage), keys, like.dtype());
    tensor.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
    tensor._set_conj(like.is_conj());
    tensor._set_neg(like.is_neg());
    return tensor;
  }
};

template <typename Change>
IValue mapped(const IValue& value, const Change& change) {
  if (value.isTensor())
    return change(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& each : value.toTensorVector())
      list.push_back(change(each));
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& each : value.toOptionalTensorVector())
      list.push_back(each ? std::optional<at::Tensor>(change(*each)) : std::nullopt);
    return list;
  }
  return value;
}

void on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  Aliases aliases;
  const auto count = op.schema().arguments().size();
  const auto first = stack->size() - count;
  bool is_elsewhere = false;
  for (size_t place = first; place < stack->size(); place++) {
    IValue& value = (*stack)[place];
    if (value.isDevice() && value.toDevice().type() == kType) {
      aliases.index = index_of(value.toDevice());
      value = Device(DeviceType::CPU);
    }
    if (value.isTensor() && value.toTensor().defined() && value.toTensor().dim()) {
      // As CUDA's kernels: tensors of two devices in one call are an error, but for numbers on the CPU.
      const auto device = value.toTensor().device();
      is_elsewhere |= device.type() == DeviceType::CPU;
      if (device.type() == kType) {
        TORCH_CHECK(!aliases.index || *aliases.index == device.index() || op.schema().name() == "aten::copy_",
                    "Expected all tensors to be on the same device, but found at least two devices, cuda:",
                    int(*aliases.index), " and ", device, " (", op.schema().name(), ")");
        aliases.index = device.index();
      }
    }
    value = mapped(value, [&](const at::Tensor& each) { return aliases.cpu(each); });
  }
  const auto& name = op.schema().name();
  const bool is_copy = name == "aten::copy_" || name == "aten::_local_scalar_dense";
  TORCH_CHECK(!is_elsewhere || is_copy || name.rfind("aten::index", 0) == 0 || name.rfind("aten::_index", 0) == 0,
              "Expected all tensors to be on the same device, but found at least two devices, cuda:",
              int(aliases.index.value_or(current)), " and cpu! (", name, ")");
  std::vector<std::pair<IValue, c10::AliasInfo>> none;
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  for (auto& value : *stack)
    if (&value - stack->data() >= static_cast<ptrdiff_t>(first))
      value = mapped(value, [&](const at::Tensor& each) { return aliases.device(each); });
  for (const auto& [alias, original] : aliases.pairs) {
    // An operator may give its operand other sizes, and then more memory.
    const auto& made = alias.storage();
    if (made.data() != original.storage().data()) {
      original.storage().set_data_ptr_noswap(memory_of(alias, original.device()));
      original.storage().set_nbytes(made.nbytes());
    }
    if (alias.sizes() != original.sizes() || alias.strides() != original.strides())
      original.unsafeGetTensorImpl()->set_sizes_and_strides(alias.sizes(), alias.strides(), alias.storage_offset());
  }
}

const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef size, std::optional<at::MemoryFormat> format) {
  return at::native::resize_(self, size, format);
}

at::Tensor as_strided(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride,
                      std::optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}

at::Tensor& set_storage(at::Tensor& self, at::Storage storage, int64_t offset, at::IntArrayRef size,
                        at::IntArrayRef stride) {
  return at::native::set_storage_cpu_(self, std::move(storage), offset, size, stride);
}

TORCH_LIBRARY_IMPL(_, CUDA, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_host>());
}

TORCH_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("resize_", &resize_);
  m.impl("as_strided", &as_strided);
  m.impl("set_.source_Storage_storage_offset", &set_storage);
  m.impl("set_.source_Storage", [](at::Tensor& self, at::Storage source) -> at::Tensor& {
    const auto count = static_cast<int64_t>(source.nbytes() / self.itemsize());
    return at::native::set_storage_cpu_(self, std::move(source), 0, {count}, {});
  });
  m.impl("set_", [](at::Tensor& self) -> at::Tensor& {
    const auto nothing = at::empty({0}, self.options());
    return at::native::set_storage_cpu_(self, nothing.storage(), 0, {0}, {});
  });
  m.impl("set_.source_Tensor", [](at::Tensor& self, const at::Tensor& source) -> at::Tensor& {
    return at::native::set_storage_cpu_(self, source.storage(), source.storage_offset(), source.sizes(),
                                        source.strides());
  });
  m.impl("copy_", torch::CppFunction::makeFromBoxedFunction<&on_host>());
}

}  // namespace

namespace at {
REGISTER_CUDA_HOOKS(CUDAHooks)
}  // namespace at

// Makes the device `index` the calling thread's current one; returns which one was. A negative one changes nothing.
extern "C" int emulated_exchange(int index) {
  return index < 0 ? current : std::exchange(current, static_cast<DeviceIndex>(index));
}

C10_REGISTER_GUARD_IMPL(CUDA, Guard);
