# Programs that try to use CPU unseen: the first argument names one. Each process that works says how much it has used, in
# milliseconds, so the sum of the lines is the truth.
use strict;
use warnings;
use POSIX ();
use Time::HiRes ();

my $SHARE_MS = 300;
$| = 1;
# Every process has the second end: to read the first waits for a byte, or for the end of all others.
pipe my $told_by, my $tells or die "pipe: $!";

sub used_ms { my ($user, $system) = times; return 1000 * ($user + $system) }

# Works until this process has used so much, and tells it in steps, so that a killed process has told nearly all.
sub work {
    my ($ms, $step_ms) = @_;
    my $told = used_ms();
    my $end = $told + $ms;
    while ($told < $end) {
        my $until = $step_ms ? $told + $step_ms : $end;
        my $number = 1;
        do { $number = $number * 3 % 1_000_003 for 1 .. 2000 } while used_ms() < $until;
        my $now = used_ms();
        syswrite STDOUT, sprintf "%d\n", $now - $told;
        $told = $now;
    }
}
sub child { my ($job) = @_; my $pid = fork; return $pid if $pid; $job->(); POSIX::_exit(0) }
sub until_told { close $tells; sysread $told_by, my $byte, 1 }

my %PROGRAMS = (
    'one process' => sub { work($SHARE_MS) },
    'a child that is waited for' => sub { waitpid child(sub { work($SHARE_MS) }), 0 },
    'a child that nobody waits for' => sub { child(sub { work($SHARE_MS, 10) }); until_told() },
    'a double fork' => sub { waitpid child(sub { child(sub { work($SHARE_MS, 10) }) }), 0; until_told() },
    'a session of its own' => sub { waitpid child(sub { POSIX::setsid(); child(sub { POSIX::setsid(); work($SHARE_MS, 10) }) }), 0; until_told() },
    'children that vanish' => sub { local $SIG{CHLD} = 'IGNORE'; for (1 .. 30) { child(sub { work(10) }); Time::HiRes::sleep(0.03) } until_told() },
    'many short processes' => sub { for (1 .. 60) { waitpid child(sub { work(5) }), 0 } },
    'two at once' => sub { my @pids = map { child(sub { work($SHARE_MS / 2) }) } 1, 2; waitpid $_, 0 for @pids },
    'work after the end' => sub { child(sub { work($SHARE_MS, 10); syswrite $tells, '!'; work(10_000, 10) }); until_told() },
    'a chain of programs' => sub {
        my $left = $ARGV[1] // 10;
        work($SHARE_MS / 10 + used_ms() * 0);
        exec $^X, $0, $ARGV[0], $left - 1 if $left > 1;
    },
    'work in the kernel' => sub {
        my $before = used_ms();
        open my $zero, '<', '/dev/zero';
        while (used_ms() < $before + $SHARE_MS) { sysread $zero, my $bytes, 1_000_000 }
        syswrite STDOUT, sprintf "%d\n", used_ms() - $before;
    },
    'a name of another' => sub { $0 = 'init'; POSIX::nice(19); work($SHARE_MS) },
);

$PROGRAMS{ $ARGV[0] }->();
