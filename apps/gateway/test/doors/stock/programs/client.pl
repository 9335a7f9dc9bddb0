# A client on Gearman::Client: client.pl PORT. See README.md for what it reads and says.
use strict;
use warnings;
use Gearman::Client;

$| = 1;
my $port   = shift;
my $server = "127.0.0.1:$port";
my $client = Gearman::Client->new(job_servers => [$server], exceptions => 1);
my $patience;

sub say_line { print "@_\n" }
sub bytes { my ($data) = @_; return length $data ? unpack('H*', $data) : '-' }

sub callbacks {
    return (
        on_data      => sub { say_line('data',    bytes(${ $_[0] })) },
        on_warning   => sub { say_line('warning', bytes(${ $_[0] })) },
        on_status    => sub { say_line('status',  @_) },
        on_exception => sub { say_line('exception', bytes($_[0])) },
        on_complete  => sub { say_line('complete', bytes(${ $_[0] })) },
        on_fail      => sub { say_line(($_[0] // '') =~ /timeout/ ? 'timeout' : 'fail') },
    );
}

sub wait_for {
    my ($fn, $data, %options) = @_;
    $options{timeout} = $patience / 1000 if $patience;
    $client->do_task($fn, \$data, { callbacks(), %options });
    # A set that gave up has closed its connection.
    $client = Gearman::Client->new(job_servers => [$server], exceptions => 1) if $patience;
}

sub submit {
    my ($fn, $data, $unique, %options) = @_;
    my $handle = $client->dispatch_background($fn, \$data, { uniq => $unique, %options });
    say_line($handle ? ('created', $handle) : ('error', 'no handle'));
}

sub add_tasks {
    my ($fn, $count, $data_of, %options) = @_;
    my $set = $client->new_task_set;
    for my $i (0 .. $count - 1) {
        my $data = $data_of->($i);
        $set->add_task($fn, \$data, { callbacks(), %options });
    }
    $set->wait;
}

my %verbs = (
    do        => sub { my ($fn, $data) = @_; wait_for($fn, $data) },
    high      => sub { my ($fn, $data) = @_; wait_for($fn, $data, priority => 'high') },
    low       => sub { my ($fn, $data) = @_; wait_for($fn, $data, priority => 'low') },
    bg        => sub { my ($fn, $data, $unique) = @_; submit($fn, $data, $unique) },
    'bg-high' => sub { my ($fn, $data, $unique) = @_; submit($fn, $data, $unique, priority => 'high') },
    'bg-low'  => sub { my ($fn, $data, $unique) = @_; submit($fn, $data, $unique, priority => 'low') },
    set  => sub { my ($fn, $data, $count) = @_; add_tasks($fn, $count, sub { $data . $_[0] }) },
    same => sub {
        my ($fn, $data, $count, $unique) = @_;
        add_tasks($fn, $count, sub { $data }, uniq => $unique);
    },
    status => sub {
        my ($fn, $data, $handle) = @_;
        my $status = $client->get_status($handle);
        my ($done, $of) = @{ $status->progress // [0, 0] };
        say_line('known', $status->known ? 1 : 0, $status->running ? 1 : 0, $done, $of);
    },
    # The server's own figures of a function: total, running, workers.
    figures => sub {
        my ($fn) = @_;
        my $row = $client->get_job_server_status->{$server}{$fn};
        say_line('figures', @{$row}{qw(queued running capable)});
    },
    patience => sub { my ($fn, $data, $ms) = @_; $patience = $ms > 0 ? $ms : undef },
);

while (my $line = <STDIN>) {
    my ($verb, $fn, $hex, @rest) = split ' ', $line;
    $verbs{$verb}->($fn, $hex eq '-' ? '' : pack('H*', $hex), @rest);
    say_line('.');
}
