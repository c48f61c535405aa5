# Makes a tenant's cell: turns a process that is root of new namespaces into the pid 1 of a root folder of its own. The
# arguments are a plan (plan.ts): steps with their words, then `run` and the program. Perl is on every machine that filters
# system calls, and calls the kernel by number; no program of the cell's own root folder is needed.
use strict;
use warnings;

my $architecture = shift @ARGV;
our %NUMBER = $architecture eq 'x64'
  ? (
    mount => 165, umount2 => 166, pivot_root => 155, mount_setattr => 442, sethostname => 170, unshare => 272,
    setgroups => 116, setresgid => 119, setresuid => 117, prctl => 157, capset => 126, prlimit64 => 302,
    close_range => 436, setns => 308, rt_sigprocmask => 14, signalfd4 => 289, epoll_create1 => 291, epoll_ctl => 233,
    epoll_pwait => 281, seccomp => 317, mknodat => 259, exit_group => 231,
  )
  : (
    mount => 40, umount2 => 39, pivot_root => 41, mount_setattr => 442, sethostname => 161, unshare => 97,
    setgroups => 159, setresgid => 149, setresuid => 147, prctl => 167, capset => 91, prlimit64 => 261,
    close_range => 436, setns => 268, rt_sigprocmask => 135, signalfd4 => 74, epoll_create1 => 20, epoll_ctl => 21,
    epoll_pwait => 22, seccomp => 277, mknodat => 33, exit_group => 94,
  );
# struct epoll_event is packed on x86_64 alone.
our $EPOLL_EVENT = $architecture eq 'x64' ? 'L Q' : 'L x4 Q';

my ($RDONLY, $NOSUID, $NODEV, $NOEXEC, $REMOUNT, $BIND, $REC) = (1, 2, 4, 8, 32, 0x1000, 0x4000);
my ($PR_SET_PDEATHSIG, $PR_SET_DUMPABLE, $PR_CAPBSET_DROP, $PR_SET_SECUREBITS, $PR_SET_NO_NEW_PRIVS) = (1, 4, 24, 28, 38);
my $NO_SETUID_FIXUP = 4;
my $DETACH = 2;
my ($NEW_USER, $NEW_NET) = (0x1000_0000, 0x4000_0000);
my $RLIMIT_NOFILE = 7;
my ($FD_CONFIG, $FD_LISTENER) = (3, 4);
my ($HERE, $FIFO) = (-100, 0010000);
my $SIGKILL = 9;
our $SIGCHLD_SET = pack 'Q', 1 << 16;
our $BACKLOG = 511;

sub fail { print STDERR "ergon: cannot start: @_: $!\n"; exit 71 }

# Perl passes numbers as they are (0 is NULL too), and of strings the address of this copy.
sub call { my ($name, @words) = @_; return syscall $NUMBER{$name}, @words }
sub must { my ($name, @words) = @_; my $made = call($name, @words); fail($name) if $made == -1; return $made }

# A tool of the machine, while its files are there.
sub run { system(@_) == 0 or do { print STDERR "ergon: cannot start: $_[0] $_[-1]\n"; exit 71 } }

sub mount { my ($type, $path, $flags, $options) = @_; must('mount', $type, $path, $type, $flags, $options) }
sub make_folder { my ($path) = @_; mkdir $path, 0755 or -d $path or fail($path) }
sub empty_file { my ($path) = @_; open my $file, '>>', $path or fail($path) }
sub bind_at { my ($from, $path) = @_; must('mount', $from, $path, 0, $BIND | $REC, 0) }

# Of all that is mounted there.
sub restrict {
    my ($path, $attributes) = @_;
    must('mount_setattr', $HERE, $path, 0x8000, pack('Q4', $attributes, 0, 0, 0), 32);
}
my $READ_ONLY = $RDONLY | $NOSUID | $NODEV;

my ($listener, $port, $hostname, $files, $folder) = (undef, 0, '', 0, '/');
my ($outside, $outlet, @doors, @outputs);

my %STEPS = (
    # The cell's socket, at a path of the machine.
    listen => [1, sub {
        my ($path) = @_;
        socket $listener, 1, 1, 0 or fail('socket');
        fileno($listener) == $FD_LISTENER or fail('descriptor 4');
        # By its name alone, as /proc/net/unix of the cell shows the path that it was bound at.
        my ($folder, $name) = $path =~ m{(.*)/(.*)};
        chdir $folder or fail($folder);
        umask 0007;
        bind $listener, pack('S Z*', 1, $name) or fail($path);
        umask 0022;
    }],
    # FIFOs as the program's outputs, as open(2) refuses sockets, which the agent's pipes are. The agent opens the other ends,
    # and takes the names away, before the program starts.
    outputs => [1, sub {
        my ($folder) = @_;
        for my $path (map { "$folder/$_" } qw(stdout stderr)) {
            # Of a life that ended in its start.
            unlink $path;
            must('mknodat', $HERE, $path, $FIFO | 0600, 0);
            # For both ends first: the open of one end waits for the other.
            sysopen my $both, $path, 2 or fail($path);
            sysopen my $output, $path, 1 or fail($path);
            push @outputs, $output;
        }
    }],
    # The socket outside that doors lead to. Its folder stays open, as no path of the cell leads to it.
    outlet => [1, sub {
        my ($path) = @_;
        (my $where, $outlet) = $path =~ m{^(.*)/([^/]+)$} or fail($path);
        opendir $outside, $where or fail($where);
        load_relay();
    }],
    # From here on paths are those of the new root folder, without a slash at their beginning.
    root => [1, sub { my ($path) = @_; mount('tmpfs', $path, $NOSUID | $NODEV, 'mode=755,size=1m'); chdir $path or fail($path) }],
    folder => [1, \&make_folder],
    file => [2, sub { my ($path, $text) = @_; open my $file, '>', $path or fail($path); print $file $text }],
    link => [2, sub { my ($path, $target) = @_; symlink $target, $path or fail($path) }],
    bind => [2, sub { my ($path, $from) = @_; -d $from ? make_folder($path) : empty_file($path); bind_at($from, $path); restrict($path, $READ_ONLY) }],
    device => [2, sub { my ($path, $from) = @_; empty_file($path); bind_at($from, $path) }],
    memory => [2, sub { my ($path, $options) = @_; mount('tmpfs', $path, $NOSUID | $NODEV, $options) }],
    # With the last process of the cell the mount ends, and with that the loop device.
    volume => [3, sub {
        my ($path, $image, $owner) = @_;
        run('mount', '--no-mtab', '--types', 'ext4', '--options', 'loop,nosuid,nodev,discard', '--', $image, $path);
        my ($uid) = split /:/, $owner;
        run('chown', '-RhP', '--', $owner, $path) if (stat $path)[4] != $uid;
    }],
    terminals => [1, sub { my ($path) = @_; mount('devpts', $path, $NOSUID | $NOEXEC, 'newinstance,ptmxmode=0666,mode=620') }],
    # Processes that it may not trace, which are those that start it, are not shown.
    processes => [1, sub {
        my ($path) = @_;
        mount('proc', $path, $NOSUID | $NODEV | $NOEXEC, 'hidepid=2');
        # All ports are the tenant's: the network is.
        if (open my $first, '>', "$path/sys/net/ipv4/ip_unprivileged_port_start") { print $first 0 }
    }],
    # Hides a file or folder, where there is one.
    mask => [1, sub {
        my ($path) = @_;
        if (-d $path) { mount('tmpfs', $path, $NOSUID | $NODEV | $NOEXEC | $RDONLY, 'size=4k') }
        elsif (-e $path) { bind_at('dev/null', $path) }
    }],
    freeze => [1, sub { my ($path) = @_; if (-e $path) { bind_at($path, $path); restrict($path, $RDONLY) } }],
    enter => [1, sub {
        my ($name) = @_;
        restrict('dev', $NOSUID | $NOEXEC);
        must('mount', 0, '.', 0, $REMOUNT | $BIND | $RDONLY | $NOSUID | $NODEV, 0);
        must('sethostname', $name, length $name);
        must('pivot_root', '.', '.');
        must('umount2', '.', $DETACH);
        chdir '/' or fail('/');
    }],
    # The network of a container, by its process. The folder stays that of one process: when that has ended, the folder is
    # empty, also where another process has its number.
    join => [1, sub {
        my ($path) = @_;
        chdir $path or fail($path);
        open my $file, '<', 'cgroup' or fail($path);
        # Ours is the root of what we see, one below that of the container.
        grep { m{^0::/\.\.(?!/\.\.)} } readline $file or fail("$path is no process of the container");
        open my $network, '<', 'ns/net' or fail($path);
        must('setns', fileno $network, $NEW_NET);
        chdir '/' or fail('/');
    }],
    loopback => [0, sub {
        socket my $any, 2, 2, 0 or fail('socket');
        my $up = pack 'Z16 s x22', 'lo', 0x41;
        ioctl $any, 0x8914, $up or fail('loopback');
    }],
    # A port of the cell's loopback that leads outside.
    door => [2, sub {
        my ($number, $refusal) = @_;
        socket my $socket, 2, 1, 0 or fail('socket');
        setsockopt $socket, 1, 2, 1;
        bind $socket, pack('S n C4 x8', 2, $number, 127, 0, 0, 1) or fail("port $number");
        # Ahead of the program: the first thing that it does may be to connect.
        listen $socket, $BACKLOG or fail("port $number");
        push @doors, { socket => $socket, domain => 1, address => pack('S Z*', 1, $outlet), ticket => $ENV{ticket}, number => $number, refusal => $refusal };
    }],
    # The user outside: a change of it, where this process is the machine's root.
    become => [3, sub {
        my ($uid, $gid, $groups) = @_;
        my @groups = split /,/, $groups;
        # A program that could read them, or be their owner, could wake the agent without a byte that counts.
        for (@outputs) { chown 0, $gid, $_ or fail('outputs'); chmod 0620, $_ or fail('outputs') }
        must('setgroups', scalar @groups, pack 'L*', @groups);
        must('prctl', $PR_SET_SECUREBITS, $NO_SETUID_FIXUP, 0, 0, 0);
        must('setresgid', ($gid + 0) x 3);
        must('setresuid', ($uid + 0) x 3);
    }],
    # The user inside: the only one of a user namespace.
    user => [2, sub {
        my ($uid, $gid) = @_;
        my %map = (uid_map => "$uid $> 1", setgroups => 'deny', gid_map => "$gid " . (split ' ', $))[0] . ' 1');
        must('unshare', $NEW_USER);
        must('prctl', $PR_SET_DUMPABLE, 1, 0, 0, 0);
        for my $name (qw(uid_map setgroups gid_map)) {
            open my $file, '>', "/proc/self/$name" or fail($name);
            syswrite $file, $map{$name} or fail($name);
        }
    }],
    port => [1, sub { ($port) = @_; load_relay() }],
    files => [1, sub { ($files) = @_ }],
    in => [1, sub { ($folder) = @_ }],
);

# While the machine's files are there.
sub load_relay { require $0 =~ s{enter\.pl$}{relay.pl}r }

# Nothing that the agent has inherited.
must('close_range', $FD_CONFIG + 1, 0xffff_ffff, 0);
my $filter = shift @ARGV;
while (defined(my $name = shift @ARGV)) {
    last if $name eq 'run';
    my ($count, $step) = @{ $STEPS{$name} or fail("no step $name") };
    $step->(splice @ARGV, 0, $count);
}

# No capability, and none by a program; nothing that the tenant may look into.
for (my $capability = 0; call('prctl', $PR_CAPBSET_DROP, $capability, 0, 0, 0) == 0; $capability++) { }
must('capset', pack('L l', 0x2008_0522, 0), pack('L6', (0) x 6));
must('prctl', $PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
must('prctl', $PR_SET_DUMPABLE, 0, 0, 0, 0);
# Last, as a change of user erases it.
must('prctl', $PR_SET_PDEATHSIG, $SIGKILL, 0, 0, 0);
if ($filter ne '') {
    my $program = pack 'H*', $filter;
    must('seccomp', 1, 0, pack('S x6 P', length($program) / 8, $program));
}

open my $config, '+<&=', $FD_CONFIG or fail('descriptor 3');
syswrite $config, "\n";
for (my $byte = ''; $byte ne "\n";) { sysread($config, $byte, 1) or exit 70 }
# Of this process too: the agent reads an end of them when nothing of the cell is left.
if (my ($stdout, $stderr) = splice @outputs) {
    open STDOUT, '>&', $stdout or fail('stdout');
    open STDERR, '>&', $stderr or fail('stderr');
}

%ENV = map { pack('H*', substr $_, 5) => $ENV{$_} } grep { /^cell_/ } keys %ENV;
my @program = @ARGV;
# Its name in the list of processes, in place of the plan.
$0 = 'cell-init';
must('rt_sigprocmask', 0, $SIGCHLD_SET, 0, 8);
# A container has its program outside: this is its relay alone.
my $program = @program ? fork // fail('fork') : -1;
become_program() if $program == 0;
if ($port) { push @doors, { socket => $listener, domain => 2, address => pack('S n C4 x8', 2, $port, 127, 0, 0, 1), is_late => 1 } }
elsif ($listener) { close $listener }
if (@doors) {
    chdir $outside or fail('the folder of the outlet') if $outside;
    serve(\@doors, \&reap);
}
for (;;) { reap(0) }

sub become_program {
    must('rt_sigprocmask', 1, $SIGCHLD_SET, 0, 8);
    must('prlimit64', 0, $RLIMIT_NOFILE, pack('Q2', ($files) x 2), 0) if $files;
    open STDIN, '<', '/dev/null';
    # Ahead of the first path of the tenant's: by /proc/self/fd a working folder, or a program, would be one of the machine.
    must('close_range', $FD_LISTENER + 1, 0xffff_ffff, 0);
    # An image knows nothing of ours; a program of ours gets its config and the socket.
    if ($port) { close $config }
    else { for ($config, $listener) { fcntl $_, 2, 0 if $_ } }
    chdir $folder or leave(71, "cannot start: $folder");
    no warnings 'exec';
    exec { $program[0] } @program;
    leave($! == 2 ? 127 : 126, "cannot run $program[0]");
}

# Without Perl's own end, which would close its files again, and say that they are gone.
sub leave { my ($code, $words) = @_; print STDERR "ergon: $words: $!\n"; call('exit_group', $code) }

# Takes in what has ended; with the program everything ends.
sub reap {
    my ($flags) = @_;
    while ((my $pid = waitpid -1, $flags) > 0) {
        next if $pid != $program;
        my $status = $?;
        kill 'KILL', -1;
        1 while wait > 0;
        exit($status & 127 ? 128 + ($status & 127) : $status >> 8);
    }
}
