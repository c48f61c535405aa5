# Attempts to leave a cell, or to reach what lies outside of it. Each is true where it succeeds. It prints the name of each that
# succeeds, and at the end how many there are. The arguments name what the test has put outside, and numbers of system calls:
# key=value. Without modules, as an image has none.

my %given = map { split /=/, $_, 2 } @ARGV;
my $EPERM = 1;
my $ENOSYS = 38;

# The kernel has looked at the call: it succeeded, or failed for another reason than that it is forbidden.
sub considered {
    my ($name, @words) = @_;
    my $number = $given{"call.$name"};
    return 0 if !defined $number;
    $! = 0;
    return syscall($number + 0, @words) != -1 || ($! != $EPERM && $! != $ENOSYS);
}
sub works { my ($name, @words) = @_; return syscall($given{"call.$name"} + 0, @words) != -1 }
# In a process of its own, which it may harm.
sub apart {
    my ($attempt) = @_;
    my $child = fork;
    if ($child == 0) { my $worked = eval { $attempt->() }; $worked ? exec_true() : exec_false() }
    waitpid $child, 0;
    return $? == 0;
}
sub exec_true { kill 9, $$ if !defined syscall($given{'call.exit_group'} + 0, 0) }
sub exec_false { syscall($given{'call.exit_group'} + 0, 1) }
sub can_read { my ($path) = @_; open my $file, '<', $path or return 0; return sysread $file, my $some, 1 }
sub can_open { my ($path, $how) = @_; return open my $file, $how // '<', $path }
sub can_list { my ($path) = @_; opendir my $folder, $path or return 0; my @found = grep { !/^\.\.?$/ } readdir $folder; return @found > 0 }
sub can_make { my ($path) = @_; return mkdir($path) && rmdir $path }
sub list { my ($path) = @_; opendir my $folder, $path or return; return grep { !/^\.\.?$/ } readdir $folder }
# Those of this process but the one that reads the list.
sub descriptors {
    opendir my $folder, '/proc/self/fd' or return;
    my @found = grep { /^\d/ && (readlink "/proc/self/fd/$_" // '') !~ m{^/proc/\d+/fd$} } readdir $folder;
    return @found;
}
sub mounted {
    my ($type) = @_;
    open my $file, '<', '/proc/self/mounts' or return;
    return map { (split)[1] } grep { (split)[2] eq $type } readline $file;
}
sub can_change { my ($folder) = @_; return grep { my $path = "$folder/$_"; -l $path ? 0 : -d $path ? can_change($path) : can_open($path, '+<') } list($folder) }
# A line of what a program has by its file, where a user without privileges runs it.
sub status_of {
    my ($program, $pattern) = @_;
    my $found = '';
    pipe my $reader, my $writer or return '';
    my $child = fork;
    if ($child == 0) {
        works('setgroups', 0, 0);
        works($_, (65_534) x 3) for qw(setresgid setresuid);
        open STDOUT, '>&', $writer;
        exec { $program } $program, '/proc/self/status';
        exec_false();
    }
    close $writer;
    while (my $line = readline $reader) { $found = $line if $line =~ $pattern }
    waitpid $child, 0;
    return $found;
}
sub is_of_another { my ($line) = @_; my ($real, $effective) = $line =~ /(\d+)\s+(\d+)/ or return 0; return $real != $effective }
# The first answer of the kernel to a request by netlink, and all of a dump.
sub netlink {
    my ($protocol, $type, $flags, $body) = @_;
    socket my $socket, 16, 3, $protocol or return '';
    setsockopt $socket, 1, 20, pack 'q2', 1, 0;
    send $socket, pack('L S2 L2', 16 + length $body, $type, $flags, 1, 0) . $body, 0 or return '';
    my $all = '';
    for (1 .. 100) {
        defined recv $socket, my $answer, 65_536, 0 or last;
        $all .= $answer;
        last if !($flags & 0x300) || unpack('x4 S', $answer) < 16;
    }
    return $all;
}
# No refusal by a right that is missing.
sub is_acknowledged { my ($answer) = @_; my ($type, $error) = unpack 'x4 S x10 l', $answer; return defined $error && $type == 2 && $error != -$EPERM }
sub reaches { my ($family, $type, $address) = @_; socket my $socket, $family, $type, 0 or return 0; return connect $socket, $address }
sub internet { my ($host) = @_; return pack 'S n C4 x8', 2, $given{port}, split /\./, $host }
sub unix { my ($path) = @_; return pack 'S a*', 1, $path }
sub with_child {
    my ($attempt) = @_;
    my $child = fork;
    if ($child == 0) { sleep 5; exec_true() }
    my $worked = $attempt->($child);
    kill 9, $child;
    waitpid $child, 0;
    return $worked;
}

# The first process, where it is another one, and one of the machine.
my @others = grep { $_ != $$ } 1, $given{pid};
my $lives = 'ergon-probe';
my ($NEW_NS, $NEW_USER, $NEW_NET, $NEW_PID, $CHLD) = (0x2_0000, 0x1000_0000, 0x4000_0000, 0x2000_0000, 17);
my @PROBES = (
    # Files of the machine.
    ['a file of the data folder', sub { can_read($given{canary}) }],
    ['the folder of the data folder', sub { can_list($given{canary} =~ s{/[^/]*$}{}r) }],
    ['the passwords of the machine', sub { can_read('/etc/shadow') }],
    ['the home of root', sub { can_list('/root') }],
    ['the packages of the machine', sub { can_read('/var/lib/dpkg/status') }],
    ['a file through the root of another process', sub { grep { can_list("/proc/$_/root") } @others }],
    ['a file through the folder of another process', sub { grep { can_list("/proc/$_/cwd") } @others }],
    ['a file through an inherited descriptor', sub { can_read('/proc/self/fd/99') }],
    ['a folder in /usr', sub { can_make("/usr/$lives") }],
    ['a folder in /', sub { can_make("/$lives") }],
    ['a folder in /etc', sub { can_make("/etc/$lives") }],
    ['another owner of a file', sub { my $path = "/tmp/$lives-$$"; open my $file, '>', $path; my $done = chown 12_345, 12_345, $path; unlink $path; $done }],
    ['the user of a setuid program', sub { is_of_another(status_of($given{setuid}, qr/^Uid:/)) }],
    ['the group of a setgid program', sub { is_of_another(status_of($given{setgid}, qr/^Gid:/)) }],
    ['the capabilities of a program', sub { status_of($given{capable}, qr/^CapEff:/) =~ /\t0*[1-9a-f]/ }],
    ['a descriptor that nobody gave', sub { grep { $_ > 4 || -d "/proc/self/fd/$_" || -b _ || -f _ } descriptors() }],
    ['a file by its handle', sub { considered('open_by_handle_at', -100, "\0" x 64, 0) }],
    # Devices.
    ['a disk', sub { opendir my $dev, '/dev'; grep { -b "/dev/$_" && can_open("/dev/$_") } readdir $dev }],
    ['a new device', sub { my $path = "/tmp/$lives-d$$"; my $done = works('mknodat', -100, "$path", 0060_600, 0x0700); unlink $path; $done }],
    ['the terminal of the machine', sub { can_open('/dev/tty', '+<') }],
    ['a key of a terminal', sub {
        my $key = 'x';
        my $shift_state = "\6";
        for my $fd (descriptors()) {
            open my $same, '<&', $fd or next;
            return 1 if -t $same && (ioctl($same, 0x5412, $key) || ioctl($same, 0x541c, $shift_state));
        }
        return 0;
    }],
    ['the log of the kernel as a device', sub { can_open('/dev/kmsg') }],
    ['file systems of user space', sub { can_open('/dev/fuse', '+<') }],
    ['network devices of user space', sub { can_open('/dev/net/tun', '+<') }],
    ['the control of loop devices', sub { can_open('/dev/loop-control', '+<') }],
    # The kernel by its files.
    ['a setting of the kernel', sub { can_open('/proc/sys/kernel/core_pattern', '+<') }],
    ['another setting of the kernel', sub { can_change('/proc/sys/kernel') || can_change('/proc/sys/vm') || can_change('/proc/sys/net') }],
    ['the keys of sysrq', sub { can_open('/proc/sysrq-trigger', '>') }],
    ['the memory of the kernel', sub { can_open('/proc/kcore') }],
    ['addresses of the kernel', sub { open my $file, '<', '/proc/kallsyms' or return 0; defined(my $line = readline $file) or return 0; $line !~ /^0+ / }],
    ['the command of the kernel', sub { can_read('/proc/cmdline') }],
    ['the pressure of the machine', sub { can_list('/proc/pressure') }],
    ['the disks of the machine', sub { can_read('/proc/diskstats') || can_read('/proc/partitions') }],
    ['the memory zones of the machine', sub { grep { can_read("/proc/$_") } qw(buddyinfo zoneinfo vmstat) }],
    ['the locks of the machine', sub { can_read('/proc/locks') }],
    ['the path of a socket of the machine', sub { open my $file, '<', '/proc/net/unix' or return 0; grep { m{ /} } readline $file }],
    ['control groups', sub { can_list('/sys/fs/cgroup') }],
    ['the agent of control groups', sub { grep { can_open("$_/release_agent", '+<') || can_open("$_/notify_on_release", '+<') } mounted('cgroup') }],
    ['a control group', sub { grep { can_make("$_/$lives") } mounted('cgroup'), mounted('cgroup2') }],
    ['a place in a control group', sub { grep { can_open("$_/cgroup.procs", '+<') } mounted('cgroup'), mounted('cgroup2') }],
    ['the devices of the machine', sub { can_list('/sys/devices') }],
    ['the hierarchy of control groups', sub { open my $file, '<', '/proc/self/cgroup' or return 0; grep { !m{:/$} } readline $file }],
    # Namespaces and mounts.
    ['a mount', sub { considered('mount', "none", "/$lives", "tmpfs", 0, 0) }],
    ['the end of a mount', sub { considered('umount2', "/$lives", 0) }],
    ['a copy of a mount', sub { works('open_tree', -100, "/", 1) }],
    ['a file system', sub { works('fsopen', "tmpfs", 0) }],
    ['another root folder', sub { apart(sub { chroot '/tmp' }) }],
    ['another root of mounts', sub { considered('pivot_root', "/$lives", "/$lives") }],
    ['flags of a mount', sub { considered('mount_setattr', -100, "/$lives", 0, "\0" x 32, 32) }],
    ['a user namespace', sub { apart(sub { works('unshare', $NEW_USER) }) }],
    ['a mount namespace', sub { apart(sub { works('unshare', $NEW_NS) }) }],
    ['a network namespace', sub { apart(sub { works('unshare', $NEW_NET) }) }],
    ['a child in a user namespace', sub { apart(sub { my $pid = syscall($given{'call.clone'} + 0, $NEW_USER | $CHLD, 0, 0, 0, 0); exec_true() if $pid == 0; $pid > 0 }) }],
    ['a child in a pid namespace', sub { apart(sub { my $pid = syscall($given{'call.clone'} + 0, $NEW_PID | $CHLD, 0, 0, 0, 0); exec_true() if $pid == 0; $pid > 0 }) }],
    ['a namespace that is joined', sub { open my $ns, '<', '/proc/self/ns/uts' or return 0; works('setns', fileno $ns, 0) }],
    # Processes.
    ['a signal to a process of the machine', sub { kill 0, $given{pid} }],
    ['the arguments of a process of the machine', sub { can_read("/proc/$given{pid}/cmdline") }],
    ['the variables of another process', sub { grep { can_read("/proc/$_/environ") } @others }],
    ['the memory of another process', sub { grep { can_open("/proc/$_/mem") } @others }],
    ['the descriptors of another process', sub { grep { can_list("/proc/$_/fd") } @others }],
    ['the trace of a process', sub { with_child(sub { works('ptrace', 0x4206, $_[0], 0, 0) }) }],
    ['the memory of a process', sub { considered('process_vm_readv', $$, 0, 0, 0, 0, 0) }],
    ['the resources of a process', sub { considered('kcmp', $$, $$, 0, 0, 0) }],
    ['a descriptor of a process', sub { my $pidfd = syscall($given{'call.pidfd_open'} + 0, $$, 0); works('pidfd_getfd', $pidfd, 1, 0) }],
    ['a better priority', sub { apart(sub { setpriority 0, 0, -20 }) }],
    ['more descriptors than the limit', sub { apart(sub { works('prlimit64', 0, 7, pack('Q2', (1_040_000) x 2), 0) }) }],
    ['life when memory ends', sub { apart(sub { open my $file, '>', '/proc/self/oom_score_adj' or return 0; syswrite $file, '-900' }) }],
    ['groups of the machine', sub { apart(sub { works('setgroups', 0, 0) }) }],
    ['shared memory of the machine', sub { defined shmget $given{shm}, 1, 0 }],
    ['a queue of the machine', sub { works('mq_open', $given{queue}, 0, 0, 0) }],
    # The kernel by its calls.
    ['ports of the processor', sub { considered('iopl', 0) }],
    ['events of all files', sub { works('fanotify_init', 0, 0) }],
    ['quotas', sub { considered('quotactl', 0, 0, 0, 0) }],
    ['pages of a process', sub { considered('move_pages', $$, 0, 0, 0, 0, 0) }],
    ['bpf', sub { considered('bpf', 0, 0, 0) }],
    ['perf events', sub { considered('perf_event_open', 0, 0, -1, -1, 0) }],
    ['io_uring', sub { considered('io_uring_setup', 1, "\0" x 120) }],
    ['userfaultfd', sub { considered('userfaultfd', 0) }],
    ['keys', sub { works('keyctl', 0, -3, 0) }],
    ['a new key', sub { considered('add_key', "user", "$lives", "x", 1, -1) }],
    ['a module', sub { considered('init_module', 0, 0, "") }],
    ['another kernel', sub { considered('kexec_load', 0, 0, 0, 0xffff) }],
    ['a restart of the machine', sub { considered('reboot', 1, 2, 3, 0) }],
    ['the log of the kernel', sub { works('syslog', 10, 0, 0) }],
    ['the clock', sub { considered('clock_settime', 99, "\0" x 16) }],
    ['accounting', sub { considered('acct', "/$lives") }],
    ['swap', sub { considered('swapon', "/$lives", 0) }],
    ['the name of the machine', sub { works('sethostname', "x", 1) }],
    # The network.
    ['a port of the machine', sub { reaches(2, 1, internet('127.0.0.1')) }],
    ['a port of the machine by another address', sub { reaches(2, 1, internet('127.0.0.2')) }],
    ['a port of the machine by no address', sub { reaches(2, 1, internet('0.0.0.0')) }],
    ['a socket of the run folder', sub { reaches(1, 1, unix($given{socket})) }],
    ['an abstract socket of the machine', sub { reaches(1, 1, unix("\0$given{abstract}")) }],
    ['raw packets', sub { socket my $socket, 2, 3, 1 }],
    ['packets of devices', sub { socket my $socket, 17, 3, 0x0300 }],
    ['the hypervisor', sub { socket my $socket, 40, 1, 0 }],
    ['the ciphers of the kernel', sub { socket my $socket, 38, 5, 0 }],
    ['a setting of a device by netlink', sub { is_acknowledged(netlink(0, 16, 5, pack 'C2 S l L2', 0, 0, 0, 1, 0, 0)) }],
    ['the sockets of the machine by netlink', sub { netlink(4, 20, 0x301, pack 'C2 S L5', 1, 0, 0, ~0, 0, 1, ~0, ~0) =~ /\Q$given{abstract}/ }],
    ['the packet filter', sub { is_acknowledged(netlink(12, 0x0a10, 5, pack 'C2 S', 0, 0, 0)) }],
    ['events of the devices of the machine', sub {
        socket my $socket, 16, 3, 15 or return 0;
        setsockopt $socket, 1, 20, pack 'q2', 1, 0;
        bind $socket, pack 'S2 L2', 16, 0, 0, 1 or return 0;
        defined recv $socket, my $event, 4096, 0;
    }],
    ['a setting of a device', sub {
        socket my $socket, 2, 2, 0 or return 0;
        my $flags = pack 'Z16 x24', 'lo';
        ioctl $socket, 0x8913, $flags or return 0;
        ioctl $socket, 0x8914, $flags;
    }],
);

$| = 1;
for my $probe (@PROBES) {
    my ($name, $attempt) = @$probe;
    print "$name\n" if eval { $attempt->() };
}
print scalar @PROBES, " probes\n";
