// Workloads that cannot work: versions that never become ready, and images whose names are none.

/** A deployment of the image of server.pl, and the words of its failure; four seconds are allowed. */
export const BROKEN: readonly (readonly [what: string, more: object, failure: RegExp])[] = [
  ['ends', { env: { EXIT_AT_START: '7' } }, /exit code 7 before it was ready/],
  ['has no such program', { command: ['/no/such'] }, /exit code 127 .*cannot run \/no\/such/],
  [
    'listens on another port',
    { env: { LISTEN_ON: '3000' } },
    /not ready after 4 s: port 3000 is open, and 8080 is configured/,
  ],
  [
    'listens on none',
    { command: ['/bin/sh', '-c', 'read x'] },
    /exit code|nothing listens on port 8080/,
  ],
  [
    'is sick',
    { health: { path: '/healthz' }, env: { SICK: '1' } },
    /GET \/healthz answers 500: sick/,
  ],
  [
    'uses up its memory',
    { memory: '16MB', command: ['/usr/bin/perl', '-e', 'my @a; push @a, "x" x 1e6 while 1'] },
    /used up its memory/,
  ],
]

/** The name of an image, and the code of its refusal. */
export const REFUSED: readonly (readonly [image: string, code: string])[] = [
  ['oci:/etc/passwd', 'image_refused'],
  ['docker-archive:/etc/shadow', 'image_refused'],
  ['UPPER', 'invalid_request'],
  ['a;rm -rf /', 'invalid_request'],
  ['$(id)', 'invalid_request'],
]
