# By the cluster's and the pool's name.
terraform import mlplat_gpu_pool.inference ml-prod/gpu-inference
