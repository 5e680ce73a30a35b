# The cheapest NVIDIA instance types that hold the model.
output "instance_types" {
  value = provider::mlplat::fit_instance_types(
    provider::mlplat::model_memory_gib(7.6, "bfloat16", 8192),
    { vendor = "nvidia" },
  )
}
