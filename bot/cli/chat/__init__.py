"""`aside chat`: play a scene at the terminal."""
