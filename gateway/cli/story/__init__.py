"""What `fencegate demo` tells: a real gateway, a sample upstream, and agents as processes of their own.

Nothing is staged: the agents are stopped by SIGSTOP, what is printed are the requests and answers as they went over the
wire, and at the end the upstream's own log tells what it executed.
"""
