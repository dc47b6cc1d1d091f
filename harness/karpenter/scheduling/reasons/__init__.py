"""Reasons why a pod, a node or an instance type was left out: values with fields, worded late."""
