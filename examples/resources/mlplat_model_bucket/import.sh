# By the bucket's name.
terraform import mlplat_model_bucket.models acme-ml-models-prod
