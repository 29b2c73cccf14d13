"""Learners in files: models and checkpoints in one container format, which need not be trusted."""
