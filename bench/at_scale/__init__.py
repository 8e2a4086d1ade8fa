"""What ``bench/scale.py`` is made of: networks, the engine, its rivals, one function per measurement, pictures."""
