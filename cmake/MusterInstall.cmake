# Install rules; the package files follow.
