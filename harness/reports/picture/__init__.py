"""Pages that people look at: each one file of HTML that holds its data as JSON and asks for nothing.

What draws them is built from the folder `picture` by `make picture`; the built files lie in `built`.
"""
