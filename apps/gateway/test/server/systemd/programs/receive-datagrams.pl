# Prints what comes to a datagram socket of Unix, as systemd's notify socket is one.
use strict;
use warnings;
use IO::Handle;
use IO::Socket::UNIX;
use Socket;

my $socket = IO::Socket::UNIX->new(Local => $ARGV[0], Type => SOCK_DGRAM) or die "no socket: $!";
STDOUT->autoflush(1);
print "listening\n";
while (defined $socket->recv(my $message, 4096)) {
    print "$message\n";
}
