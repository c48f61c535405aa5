// Node's flags of our programs. Some change the code that V8 makes, and Node keeps compiled code apart
// by them: compilePrograms() compiles each program with its own, or it strips its types at every start.
import { SIGNER_FLAGS } from '#signers/flags.ts'

export const PROGRAMS = ['gateway', 'jobs', 'signer', 'model', 'storage'] as const
export type Program = (typeof PROGRAMS)[number]

// V8 waits for 3000 calls of a function before it optimises it well, and a collector that begins with
// 1 MiB runs every few requests. After 8,000 requests one took 554 µs so, and 733 µs without.
const HOT_SOON = [
  '--invocation-count-for-maglev=100',
  '--invocation-count-for-turbofan=500',
  '--minimum-invocations-after-ic-update=100',
  '--min-semi-space-size=16',
]

const NONE: readonly string[] = []

export const PROGRAM_FLAGS: Readonly<Record<Program, readonly string[]>> = {
  gateway: HOT_SOON,
  jobs: NONE,
  signer: SIGNER_FLAGS,
  model: NONE,
  storage: NONE,
}
