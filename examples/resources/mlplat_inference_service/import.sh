# By the cluster's, the namespace's and the service's name; "-" is the cluster of the provider's kubernetes block.
terraform import mlplat_inference_service.qwen ml-prod/ml/vllm-qwen
