"""The whole way once, on pictures that come with the package, as one page to look at."""
