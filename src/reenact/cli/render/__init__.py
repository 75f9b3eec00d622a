"""The output of each verb on a terminal: `render/NAME.py` has `show(result, options, context)`.

A verb without such a module prints its result as JSON.
"""
