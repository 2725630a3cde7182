// The first file of this folder lands next.
