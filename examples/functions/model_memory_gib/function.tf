# A model of 7.6 billion parameters that serves eight requests of 8192 tokens at the same time.
output "memory_gib" {
  value = provider::mlplat::model_memory_gib(7.6, "bfloat16", 8192, { sequences = 8 })
}
