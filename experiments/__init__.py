"""Research questions, one runnable file each."""
