"""The whole story on a built-in city, ending with a report to look at.

streets     the public half: a generated city
trips       the private half: simulated trips, and how far one trip can move the weights
city        both together, as an owner has them
story       plan, release, save, load, ask, evaluate, report
"""
