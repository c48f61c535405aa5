// V8's settings of our programs. Those that change the code which V8 makes are not on the command line:
// Node keeps compiled code apart by them, and what a start runs once would be optimised as well.
import { setFlagsFromString } from 'node:v8'

/** A program that runs as a cell. */
export type Program = {
  /** The program that runs its file, by default the Node.js of this process. */
  readonly interpreter?: string
  /** Its file, from src/. */
  readonly file: string
  /** V8's settings on its command line, or those of its interpreter. */
  readonly flags: readonly string[]
}

// V8 waits for 3000 calls of a function before it optimises it well. After 8,000 requests one took 554 µs
// so, and 733 µs without.
const HOT_SOON = [
  '--invocation-count-for-maglev=100',
  '--invocation-count-for-turbofan=500',
  '--minimum-invocations-after-ic-update=100',
]

// V8 puts objects that often outlived a collection among the old ones from the start, by their place in the code. It
// learned that while the first requests waited for cold code, and never unlearned it: such an object dies with its
// request, and keeps all that it holds until the whole heap is collected. A sixth of the objects of chat requests
// stayed so; a collection of the young took 50 to 120 ms, and 2 to 8 without.
const NOT_AT_ONCE_OLD = ['--no-allocation-site-pretenuring']

// The collector's helper threads took more CPU than they saved on two cores. For each object of 1 MiB a gateway
// needed 12 to 15 ms of CPU with them, and 10 to 11.6 without; signers and jobs needed a tenth less.
export const ONE_COLLECTOR = '--single-threaded-gc'

/** Makes V8 ready for requests; before the modules are loaded it would cost 0.35 s of CPU. */
export function tuneForRequests(): void {
  for (const flag of [...HOT_SOON, ...NOT_AT_ONCE_OLD]) setFlagsFromString(flag)
}
