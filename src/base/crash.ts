// The end of a process by an uncaught fault: one line of the log, then exit 70 (EX_SOFTWARE of sysexits.h). Later
// output of the process could not be trusted, and its parent starts it again.
import { ErgonError } from './errors.ts'
import type { Logger } from './log.ts'

const EXIT_FAULT = 70

/** Ends the process at an uncaught error or an unhandled rejection. Called once, before all else. */
export function endOnFault(log: Logger): void {
  process.on('uncaughtException', (error: unknown) => {
    // Of an expected fault its sentence says all; of any other the stack is needed.
    log.error('The process ends', { error: error instanceof ErgonError ? error.message : error })
    process.exit(EXIT_FAULT)
  })
}
