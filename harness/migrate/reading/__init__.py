"""Agent pools from what `az`, ARM, Bicep and Terraform print, and from the Nodes of a dump."""
