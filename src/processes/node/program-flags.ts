// V8's settings of our programs. Those that change the code which V8 makes are not on the command line:
// Node keeps compiled code apart by them, and what a start runs once would be optimised as well.
import { setFlagsFromString } from 'node:v8'
import { SIGNER_FLAGS } from '#signers/flags.ts'

export const PROGRAMS = ['gateway', 'jobs', 'signer', 'model', 'storage'] as const
export type Program = (typeof PROGRAMS)[number]

// V8 waits for 3000 calls of a function before it optimises it well. After 8,000 requests one took 554 µs
// so, and 733 µs without.
const HOT_SOON = [
  '--invocation-count-for-maglev=100',
  '--invocation-count-for-turbofan=500',
  '--minimum-invocations-after-ic-update=100',
]

export const PROGRAM_FLAGS: Readonly<Record<Program, readonly string[]>> = {
  // A collector that begins with 1 MiB runs every few requests.
  gateway: ['--min-semi-space-size=16'],
  jobs: [],
  signer: SIGNER_FLAGS,
  model: [],
  storage: [],
}

/** From now on what is called often is optimised soon; while modules load it costs 0.35 s of CPU. */
export function optimiseSoon(): void {
  for (const flag of HOT_SOON) setFlagsFromString(flag)
}
