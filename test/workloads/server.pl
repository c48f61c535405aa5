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
$SIG{TERM} = sub { print "ended\n"; exit 0 };
$SIG{CHLD} = 'IGNORE';
my %PAGES = (
    '/' => sub { 'hello from version ' . ($ENV{VERSION} // '?') . "\n" },
    '/env' => sub { join '', map { "$_=$ENV{$_}\n" } sort keys %ENV },
    '/healthz' => sub { defined $ENV{SICK} ? undef : 'well' },
    '/exit' => sub { print STDERR "a fault\n"; exit 3 },
    '/eat' => sub { my @all; push @all, 'x' x 1_000_000 while 1 },
    '/fork' => sub { my $made = 0; while ($made < 5000 && defined(my $pid = fork)) { if (!$pid) { sleep 60; exit } $made++ } "$made\n" },
    '/log' => sub { print 'x' x 99, "\n" for 1 .. 200_000; 'written' },
    '/work' => sub { if (!fork) { 1 while (times)[0] < 2; print "worked\n"; exit } 'answered' },
    '/slow' => sub { select undef, undef, undef, 2; 'slow from version ' . ($ENV{VERSION} // '?') },
);
while (1) {
    accept my $client, $server or next;
    my $head = '';
    while ($head !~ /\r\n\r\n/) { sysread($client, $head, 4096, length $head) or last }
    my ($path) = $head =~ /^\S+ ([^? ]+)/ or next;
    my $page = $PAGES{$path};
    my $body = $page ? $page->() : 'nothing here';
    my $status = defined $body ? ($page ? '200 OK' : '404 Not Found') : '500 Sick';
    $body //= 'sick';
    print $client "HTTP/1.1 $status\r\ncontent-length: " . length($body) . "\r\nconnection: close\r\n\r\n$body";
    close $client;
}
