"""Find, check, download and build model files, and plan their memory.

`installed.weights_folder` says where they are.
"""
