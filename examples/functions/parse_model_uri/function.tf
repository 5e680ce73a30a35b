output "bucket" {
  value = provider::mlplat::parse_model_uri("s3://acme-ml-models-prod/models/qwen").location
}
