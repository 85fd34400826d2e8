// Only here so that the precompiled headers (cmake/options.cmake) have a target.
