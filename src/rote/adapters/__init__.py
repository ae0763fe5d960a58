"""Rules on the models of other packages, each in a module by the name of its package.

They take what a model of the package gives, and return what its users expect. Importing one asks
for its package only where it needs it.
"""
