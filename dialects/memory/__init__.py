"""Reads whose memory a value lies in, and when it is used. Nothing here changes the IR."""
