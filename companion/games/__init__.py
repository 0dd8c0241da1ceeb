"""The rules core: what each game allows, on plain values and the standard library alone."""
