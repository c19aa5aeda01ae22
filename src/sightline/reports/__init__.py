"""A page to look at depth with: one HTML file, nothing fetched, works offline."""

from sightline.reports.page import Exhibit, write_page

__all__ = ["Exhibit", "write_page"]
