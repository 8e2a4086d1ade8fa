"""A demonstration on a built-in city.

streets     the public half: a generated street map
people      the private half: simulated drivers on any road map
city        both together, and the files a data owner would have
story       plan, release, save, load, query, evaluate, report
"""
