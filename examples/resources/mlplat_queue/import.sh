# By the cluster's and the queue's name.
terraform import mlplat_queue.gpu ml-prod/gpu-cluster-queue
