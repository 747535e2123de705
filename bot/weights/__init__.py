"""Finds, checks, fetches and fits model files. The files themselves live in the folder that `weights_folder` names."""
