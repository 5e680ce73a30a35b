resource "mlplat_model_bucket" "models" {
  name = "acme-ml-models-prod"

  # Checkpoints go after a month; models stay, whatever happens.
  retention = [
    { prefix = "checkpoints/", expire_after_days = 30 },
  ]
  protected_prefixes = ["models/"]

  readers = ["arn:aws:iam::123456789012:role/model-server"]
  writers = ["arn:aws:iam::123456789012:role/trainer"]

  tags = {
    data-class = "internal"
  }
}
