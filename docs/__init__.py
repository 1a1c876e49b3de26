"""The documentation: pages in Markdown, and ``python -m docs``, which builds them."""
