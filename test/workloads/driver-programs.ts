// Programs that the contract of drivers runs in the server's image, by shell lines and variables.
import type { WorkloadSpec } from '#workloads/driver.ts'

export const BY_NAME = `echo hello > /dev/stdout; echo a word > /dev/stderr; echo again >> /proc/self/fd/1
  exec /usr/bin/perl /app/server.pl`
/** Numbers of descriptors that a program may begin with. */
export const DESCRIPTORS = [3, 4, 5, 6, 7, 8, 9, 10]
/** The root folder of the image has no folder /boot. */
export const TELL_PLACE = 'print -e ("../" x 9 . "boot") ? "outside\\n" : "inside\\n"'
export const BURN = '/usr/bin/perl /app/server.pl & while :; do :; done'
export const DEAF =
  'trap "" TERM; /usr/bin/perl -e \'$SIG{TERM} = "IGNORE"; do "/app/server.pl"\' & wait; wait'

export const UNREADY: readonly (readonly [Partial<WorkloadSpec>, RegExp])[] = [
  [{ env: { EXIT_AT_START: '7' } }, /exit code 7 before it was ready/],
  [{ env: { LISTEN_ON: '3000' } }, /port 3000 is open, and 8080 is configured/],
  [{ command: ['/no/such'] }, /exit code 127 before it was ready; .*no such file or directory/i],
  [
    { command: ['echo hello'] },
    /exit code 127 before it was ready \(no program has the name "echo hello"; a line for a shell is \["\/bin\/sh","-c","echo hello"\]\)/,
  ],
  [
    {
      env: { SICK: '1' },
      health: { path: '/healthz', intervalMs: 500, timeoutMs: 500 },
    },
    /GET \/healthz answers 500: sick/,
  ],
]
