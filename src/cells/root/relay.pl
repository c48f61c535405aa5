# Leads connections into the cell's own network and out of it, inside of pid 1, which nothing in the cell can end or look into:
# from the cell's unix socket to a TCP port, and from ports of its loopback to a unix socket outside. A direction holds at most one chunk: a reader that does not read stops its writer.
use strict;
use warnings;
our ($EPOLL_EVENT, $SIGCHLD_SET, $BACKLOG, %NUMBER);

my $CHUNK_BYTES = 65_536;
my $EVENTS_MAX = 256;
my ($IN, $OUT) = (1, 4);
my ($ADD, $DELETE, $MODIFY) = (1, 2, 3);
my ($LOOK_MIN_MS, $LOOK_MAX_MS) = (5, 250);
my $EVENT_BYTES = length pack $EPOLL_EVENT, 0, 0;
my $NO_WAIT = 1;
my $TICKETS = 0;

my ($EINPROGRESS, $EALREADY, $EAGAIN) = (115, 114, 11);
# A unix socket with a full backlog: the connection is held, and no other of its door is taken.
my ($RETRY_MS, $HELD_S_MAX) = (10, 5);
my $PAIRS_MAX = 4000;
my $RLIMIT_NOFILE = 7;

my ($epoll, %ends, %doors, $pairs_max);

# Never returns. A door is a `socket`, and the `domain` and `address` that it leads to: a late one is opened once that answers.
# Its `ticket` and `number` go first, and a `refusal` goes back where nobody takes the connection. `reap` is called when a
# process ended. A spare's ticket comes as a line of the standard input; connections wait for it.
sub serve {
    my ($doors, $reap) = @_;
    $pairs_max = pairs_max();
    $epoll = must('epoll_create1', 0);
    my $ended = must('signalfd4', -1, $SIGCHLD_SET, 8, 0x800);
    open my $signals, '<&=', $ended or fail('signalfd4');
    control($ADD, $ended, $IN);
    local $SIG{PIPE} = 'IGNORE';
    my ($late) = grep { $_->{is_late} } @$doors;
    my @early = grep { !$_->{is_late} } @$doors;
    my @closed = grep { $_->{number} && !defined $_->{ticket} } @early;
    control($ADD, $TICKETS, $IN) if @closed;
    open_door($_) for grep { !$_->{number} || defined $_->{ticket} } @early;
    my $look_ms = $late ? $LOOK_MIN_MS : -1;
    my $events = "\0" x ($EVENT_BYTES * $EVENTS_MAX);
    for (;;) {
        my @held = grep { $_->{held} } values %doors;
        my $count = syscall $NUMBER{epoll_pwait}, $epoll, $events, $EVENTS_MAX, @held ? $RETRY_MS : $look_ms, 0, 8;
        if ($look_ms > 0) { $look_ms = answers($late) ? open_door($late) : $look_ms < $LOOK_MAX_MS ? int($look_ms * 1.5) : $look_ms }
        my @calls;
        for my $at (0 .. $count - 1) {
            my (undef, $number) = unpack $EPOLL_EVENT, substr $events, $at * $EVENT_BYTES, $EVENT_BYTES;
            if ($number == $TICKETS) { take_ticket(\@closed) }
            elsif ($number == $ended) { sysread $signals, my $any, 4096; $reap->($NO_WAIT) }
            elsif (my $door = $doors{$number}) { push @calls, $door }
            elsif (my $end = $ends{$number}) { happen($end) }
        }
        # Last: an event above may be of a descriptor that a new connection would get.
        admit($_) for @calls, @held;
    }
}

sub take_ticket {
    my ($closed) = @_;
    sysread STDIN, my $line, 4096;
    control($DELETE, $TICKETS, 0);
    my ($ticket) = ($line // '') =~ /^(.+)\n/ or return;
    for my $door (@$closed) { $door->{ticket} = $ticket; open_door($door) }
}

sub control { my ($how, $number, $events) = @_; must('epoll_ctl', $epoll, $how, $number, pack $EPOLL_EVENT, $events, $number) }
sub unblock { my ($socket) = @_; fcntl $socket, 4, 0x800 }

# Two descriptors each, of those that this process may have.
sub pairs_max {
    my $limit = pack 'Q2', 0, 0;
    syscall $NUMBER{prlimit64}, 0, $RLIMIT_NOFILE, 0, $limit;
    my ($files) = unpack 'Q', $limit;
    my $pairs = int(($files - 32) / 2);
    return $pairs < $PAIRS_MAX ? $pairs : $PAIRS_MAX;
}

# True once the program listens. The second call has what became of the first; a full backlog leaves it for later looks.
sub answers {
    my ($door) = @_;
    my $try = delete $door->{try};
    if (!$try) { socket $try, $door->{domain}, 1, 0 or return 0; unblock($try) }
    return 1 if connect($try, $door->{address}) || $! == $EINPROGRESS && connect($try, $door->{address});
    $door->{try} = $try if $! == $EALREADY;
    return 0;
}

sub open_door {
    my ($door) = @_;
    unblock($door->{socket});
    # Those that lead out listen already.
    listen $door->{socket}, $BACKLOG if !$door->{number};
    $doors{ fileno $door->{socket} } = $door;
    watch_doors();
    return -1;
}

# While too many are open, or one is held, new ones wait.
sub watch_doors {
    my $has_room = keys %ends < 2 * $pairs_max;
    for my $number (keys %doors) {
        my $wanted = $has_room && !$doors{$number}{held};
        next if $wanted == ($doors{$number}{watched} // 0);
        control($wanted ? $ADD : $DELETE, $number, $IN);
        $doors{$number}{watched} = $wanted;
    }
}

sub admit {
    my ($door) = @_;
    while (keys %ends < 2 * $pairs_max && (my $from = next_at($door))) {
        socket my $to, $door->{domain}, 1, 0 or last;
        unblock($_) for $from, $to;
        my ($greeting, $kept) = defined $door->{ticket} ? "$door->{ticket} $door->{number}\n" : '';
        if (!connect($to, $door->{address}) && $! != $EINPROGRESS) {
            if ($! == $EAGAIN && time < ($door->{held_until} ||= time + $HELD_S_MAX)) { $door->{held} = $from; last }
            ($to, $kept) = refusing($door->{refusal} // '') or next;
            $greeting = '';
        }
        $door->{held_until} = 0;
        # Of the two the one that is TCP takes it.
        setsockopt $_, 6, 1, 1 for $from, $to;
        my @pair = map { { socket => $_, number => fileno $_, pending => '', ended => 0, watched => 0 } } $from, $to;
        ($pair[0]{other}, $pair[1]{other}) = reverse @pair;
        @{ $pair[1] }{qw(connecting pending kept)} = (1, $greeting, $kept);
        $ends{ $_->{number} } = $_ for @pair;
        watch($_) for @pair;
    }
    watch_doors();
}

# The connection that is held, or a new one.
sub next_at {
    my ($door) = @_;
    my $held = delete $door->{held};
    return $held if $held;
    accept my $from, $door->{socket} or return;
    return $from;
}

# A connection at whose other end, which has to stay open, a refusal is all that comes.
sub refusing {
    my ($words) = @_;
    socketpair my $to, my $kept, 1, 1, 0 or return;
    syswrite $kept, $words;
    shutdown $kept, 1;
    unblock($to);
    return ($to, $kept);
}

# What is waited for: bytes once the other end has taken the last ones, and room for bytes that are left.
sub watch {
    my ($end) = @_;
    my $other = $end->{other};
    my $is_read = !$end->{ended} && !$end->{connecting} && $other->{pending} eq '' && !$other->{connecting};
    my $wanted = ($is_read ? $IN : 0) | ($end->{pending} ne '' || $end->{connecting} ? $OUT : 0);
    my $watched = $end->{watched};
    return if $wanted == $watched;
    control($watched == 0 ? $ADD : $wanted == 0 ? $DELETE : $MODIFY, $end->{number}, $wanted);
    $end->{watched} = $wanted;
}

sub happen {
    my ($end) = @_;
    my $other = $end->{other};
    if ($end->{connecting}) {
        return drop($end) if unpack 'i', getsockopt $end->{socket}, 1, 4;
        $end->{connecting} = 0;
    }
    return if $end->{pending} ne '' && !flush_to($end);
    return if $end->{watched} & $IN && !take($end);
    return drop($end) if $end->{ended} && $other->{ended} && $end->{pending} . $other->{pending} eq '';
    watch($end);
    watch($other);
}

# False where the pair is gone.
sub take {
    my ($end) = @_;
    my $other = $end->{other};
    my $count = sysread $end->{socket}, $other->{pending}, $CHUNK_BYTES;
    if (!defined $count) { return $! == $EAGAIN || drop($end) }
    return flush_to($other) if $count > 0;
    $end->{ended} = 1;
    shutdown $other->{socket}, 1;
    return 1;
}

sub flush_to {
    my ($end) = @_;
    my $count = syswrite $end->{socket}, $end->{pending};
    if (!defined $count) { return $! == $EAGAIN || drop($end) }
    substr($end->{pending}, 0, $count) = '';
    return 1;
}

sub drop {
    my ($end) = @_;
    my @pair = ($end, $end->{other});
    for my $one (@pair) {
        delete $ends{ $one->{number} };
        close $one->{socket};
        delete $one->{other};
    }
    watch_doors();
    return 0;
}

1;
