# SPDX-License-Identifier: MIT
"""Described machines: the form (schema), what is not written (defaults), and the snapshot (writer)."""
