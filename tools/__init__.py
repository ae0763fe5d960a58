"""What is run by hand: checks that take too long, or need too much, for the tests."""
