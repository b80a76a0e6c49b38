#!/bin/sh
# Packages are installed into a root that does not run: nothing is started.
exit 101
