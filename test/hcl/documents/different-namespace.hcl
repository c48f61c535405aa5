a = provider::f(1)
