"""What ``bench.device_check`` and ``bench.gpu_vs_cpu`` are made of: tables, measurements, and the worker."""
