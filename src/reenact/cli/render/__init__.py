"""Terminal output of each verb: `show(result, options, context)` in `render/NAME.py`.

A verb without such a module prints its result as JSON.
"""
