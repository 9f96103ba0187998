"""The stages of a material, from the file to the stored documents."""
