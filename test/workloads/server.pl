# The server of test images: HTTP on PORT, one request at a time, with pages that misbehave. No module: an image of perl and
# a shell has none.
$| = 1;
my $port = $ENV{LISTEN_ON} || $ENV{PORT} || 8080;
exit $ENV{EXIT_AT_START} if defined $ENV{EXIT_AT_START};
socket my $server, 2, 1, 0 or die "socket: $!";
setsockopt $server, 1, 2, pack 'i', 1;
bind $server, pack 'S n a4 x8', 2, $port, "\0\0\0\0" or die "bind: $!";
listen $server, 128 or die "listen: $!";
print "listening on $port\n";
spin() if defined $ENV{SPIN_AT} && !fork;
$SIG{TERM} = sub { print "ended\n"; exit 0 };
$SIG{CHLD} = 'IGNORE';
my $ME = int rand 1e9;
my %PAGES = (
    '/nap' => sub { select undef, undef, undef, 0.2; $ME },
    '/' => sub { 'hello from version ' . ($ENV{VERSION} // '?') . "\n" },
    '/env' => sub { join '', map { "$_=$ENV{$_}\n" } sort keys %ENV },
    '/healthz' => sub { defined $ENV{SICK} ? undef : 'well' },
    '/exit' => sub { print STDERR "a fault\n"; exit 3 },
    '/eat' => sub { my @all; push @all, 'x' x 1_000_000 while 1 },
    '/fork' => sub { my $made = 0; while ($made < 5000 && defined(my $pid = fork)) { if (!$pid) { sleep 60; exit } $made++ } "$made\n" },
    '/log' => sub { print 'x' x 99, "\n" for 1 .. 200_000; 'written' },
    '/work' => sub { if (!fork) { 1 while (times)[0] < 1; print "worked\n"; exit } 'answered' },
    '/hide' => sub { if (!fork) { exit if fork; 1 while (times)[0] < 0.5; print "hidden\n"; exit } 'answered' },
    '/burn' => sub { if (!fork) { exit if fork; 1 for 1 .. 1e8; print "burnt\n"; exit } 'answered' },
    '/spin' => sub { spin() if !fork; 'it spins' },
    '/out' => sub { dial('127.0.0.1', 3128) },
    '/kept' => sub { open my $file, '<', '/data/kept' or return "$!"; <$file> // '' },
    '/mount' => sub { open my $file, '<', '/proc/mounts'; (grep { m{ /data } } <$file>)[0] // 'none' },
    '/room' => sub { my $room = "\0" x 120; syscall(137, my $path = '/data', $room); my ($type, $size, $all, $free) = unpack 'q4', $room; $size * $free },
    '/fill' => sub { open my $file, '>', '/data/big' or return "$!"; my $ended = fill($file); close $file; unlink '/data/big'; $ended },
    '/slow' => sub { select undef, undef, undef, 2; 'slow from version ' . ($ENV{VERSION} // '?') },
);
while (1) {
    accept my $client, $server or next;
    my $head = '';
    while ($head !~ /\r\n\r\n/) { sysread($client, $head, 4096, length $head) or last }
    if ($head =~ /^Sec-WebSocket-Key: *(\S+)/mi) { if (!fork) { echo($client, $1); exit } close $client; next }
    my ($path) = $head =~ /^\S+ ([^? ]+)/ or next;
    my $page = $PAGES{$path};
    if ($path =~ m{^/dial/([\d.]+)/(\d+)$}) { my @to = ($1, $2); $page = sub { dial(@to) } }
    if ($path =~ m{^/keep/(\w+)$}) { my $text = $1; $page = sub { keep($text) } }
    my $body = $page ? $page->() : 'nothing here';
    my $status = defined $body ? ($page ? '200 OK' : '404 Not Found') : '500 Sick';
    $body //= 'sick';
    print $client "HTTP/1.1 $status\r\ncontent-length: " . length($body) . "\r\nconnection: close\r\n\r\n$body";
    close $client;
}

# Uses all of a processor for ever, from a second on if one is named.
sub spin {
    close $server;
    select undef, undef, undef, 0.05 while time < ($ENV{SPIN_AT} // 0);
    1 while 1;
}

# Writes to the volume, durably.
sub keep {
    my ($text) = @_;
    open my $file, '>', '/data/kept' or return "$!";
    syswrite $file, $text;
    return syscall(74, fileno $file) == 0 ? "kept $text" : "$!";
}

# Why no more can be written.
sub fill {
    my ($file) = @_;
    while (defined syswrite $file, 'x' x 1_000_000) { }
    return "$!";
}

# What a server of this network says first, or why it is not reached.
sub dial {
    my ($host, $other) = @_;
    socket my $to, 2, 1, 0 or return "no socket: $!";
    connect $to, pack 'S n C4 x8', 2, $other, split /\./, $host or return $!;
    syswrite $to, "\n";
    sysread $to, my $heard, 4096;
    return $heard =~ s/\s+$//r;
}

# A WebSocket that says again what it is told, in frames of 125 bytes at most.
sub echo {
    my ($client, $key) = @_;
    my $accept = pack 'u', sha1($key . '258EAFA5-E914-47DA-95CA-C5AB0DC85B11');
    ($accept = substr $accept, 1, 27) =~ tr#` -_#AA-Za-z0-9+/#;
    syswrite $client, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: $accept=\r\n\r\n";
    while (sysread $client, my $frame, 131) {
        my ($kind, $length, $mask) = unpack 'CCa4', $frame;
        $length &= 0x7f;
        my $text = substr($frame, 6, $length) ^ substr($mask x 32, 0, $length);
        syswrite $client, pack('CC', $kind, $length) . $text;
    }
}

sub sha1 {
    my ($text) = @_;
    my @sum = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0);
    my $turn = sub { my ($x, $by) = @_; ($x << $by | $x >> 32 - $by) & 0xFFFFFFFF };
    for my $block (unpack '(a64)*', $text . "\x80" . "\0" x ((55 - length $text) % 64) . pack 'NN', 0, 8 * length $text) {
        my @w = unpack 'N16', $block;
        push @w, $turn->($w[-3] ^ $w[-8] ^ $w[-14] ^ $w[-16], 1) for 16 .. 79;
        my ($a, $b, $c, $d, $e) = @sum;
        for my $i (0 .. 79) {
            my $f = $i < 20 ? $b & $c | ~$b & $d : $i < 40 || $i > 59 ? $b ^ $c ^ $d : $b & $c | $b & $d | $c & $d;
            my $k = (0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6)[$i / 20];
            ($a, $b, $c, $d, $e) = (($turn->($a, 5) + ($f & 0xFFFFFFFF) + $e + $k + $w[$i]) & 0xFFFFFFFF, $a, $turn->($b, 30), $c, $d);
        }
        my @now = ($a, $b, $c, $d, $e);
        $sum[$_] = ($sum[$_] + $now[$_]) & 0xFFFFFFFF for 0 .. 4;
    }
    return pack 'N5', @sum;
}
