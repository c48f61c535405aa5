// The signals that end a command in order: what is unfinished is removed first. Ctrl-C is one of them; so are
// what `kill` and a service manager send, and what is sent when a terminal is closed.
import { constants } from 'node:os'
import { CommandError } from '#cli/output.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Calls `stop` with a CommandError at the first signal; its exit code is 128 and the signal's number, as
 * shells have it. A second signal, of whichever kind, ends the program at once. Gives what ends listening.
 */
export function onSignals(stop: (reason: CommandError) => void): () => void {
  const ignore = () => {
    for (const signal of SIGNALS) process.off(signal, end)
  }
  const end = (signal: (typeof SIGNALS)[number]) => {
    ignore()
    const exitCode = 128 + constants.signals[signal]
    stop(new CommandError('Interrupted: unfinished copies are removed', exitCode))
  }
  for (const signal of SIGNALS) process.on(signal, end)
  return ignore
}
