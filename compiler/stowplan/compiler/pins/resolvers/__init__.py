"""Resolvers ask a remote what a reference stands for now. Nothing else in the compiler uses the network for pins."""
