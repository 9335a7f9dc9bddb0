# Holds a listening socket as systemd does: prints its port, then runs the command once for each line of its input,
# with the socket as descriptor 3.
use strict;
use warnings;
use IO::Handle;
use IO::Socket::INET;
use POSIX qw(dup2);

# Descriptor 3 outlives exec.
$^F = 3;
my ($host, $name, @command) = @ARGV;
my $socket = IO::Socket::INET->new(LocalAddr => $host, Listen => 64) or die "no socket: $!";
STDOUT->autoflush(1);
print $socket->sockport, "\n";
while (<STDIN>) {
    my $pid = fork();
    if ($pid == 0) {
        dup2(fileno($socket), 3);
        dup2(1, 2);
        $ENV{LISTEN_PID} = $$;
        $ENV{LISTEN_FDS} = 1;
        $ENV{LISTEN_FDNAMES} = $name;
        exec { $command[0] } @command;
    }
    print "started $pid\n";
    waitpid $pid, 0;
    print 'ended ', $? >> 8, "\n";
}
