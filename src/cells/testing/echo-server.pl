# A program of an image (without modules): it sends back what it gets on a TCP port, a process for each connection.
$SIG{CHLD} = 'IGNORE';
socket my $server, 2, 1, 0 or die;
setsockopt $server, 1, 2, 1;
bind $server, pack('S n C4 x8', 2, shift @ARGV, 0, 0, 0, 0) or die "bind: $!\n";
listen $server, 1024;
while (accept my $client, $server) {
    next if fork;
    close $server;
    while (sysread $client, my $bytes, 65_536) {
        while (length $bytes) { substr($bytes, 0, syswrite $client, $bytes) = '' }
    }
    shutdown $client, 1;
    exit;
}
