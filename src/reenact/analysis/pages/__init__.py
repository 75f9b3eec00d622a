"""Static pages: one model of a page, written as HTML or Markdown, with one stylesheet.

`blocks` is the model, `html` and `markdown` write it. `tokens.css` has the colours and fonts, for the console too;
`page.css` is the look of static pages.
"""
