# A worker on Gearman::Worker: worker.pl PORT PREFIX [TIMEOUT-MILLISECONDS]. See README.md.
use strict;
use warnings;
use Gearman::Worker;

$| = 1;
my ($port, $prefix, $lease) = @ARGV;
my $worker = Gearman::Worker->new(job_servers => ["127.0.0.1:$port"], client_id => 'perl-worker');

sub bytes { my ($data) = @_; return length $data ? unpack('H*', $data) : '-' }

my %functions = (
    echo => sub { return $_[0]->arg },
    talk => sub {
        my ($job) = @_;
        $worker->send_work_data($job, 'one');
        $worker->send_work_data($job, "t\0o");
        $worker->send_work_warning($job, 'careful');
        $job->set_status(1, 4);
        return 'end';
    },
    fail => sub { return undef },
    boom => sub { $worker->send_work_exception($_[0], 'kaboom'); return },
    die  => sub { die "oops\n" },
    note => sub { print 'got ', bytes($_[0]->arg), "\n"; return 'noted' },
    # Runs until it is told to end by a line.
    hold => sub {
        my ($job) = @_;
        $job->set_status(1, 4);
        print 'holding ', bytes($job->arg), "\n";
        defined <STDIN> or exit 0;
        return $job->arg;
    },
);

for my $name (keys %functions) {
    my @lease = $name eq 'hold' && $lease ? ($lease) : ();
    $worker->register_function("$prefix-$name", @lease, $functions{$name});
}
print "ready\n";
$worker->work;
