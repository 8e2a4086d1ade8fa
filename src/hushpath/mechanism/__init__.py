"""What to measure: blocks of local distances with a noise scale each, one file per mechanism.

``blocks`` says what can be measured, ``core`` ties blocks, law and scales into a certified ``Strategy``, and each
mechanism is a file that turns public facts into blocks.  Nothing here takes a weight.
"""
