// The last lines of a node's log, in memory: those of the agent and of its programs, which are relayed by it.

import { writeStderr } from './log.ts'

/** Lines that are kept, and their length at most. */
export const TAIL_LINES_MAX = 500
const LINE_LENGTH_MAX = 1000

export interface LogTail {
  add(line: string): void
  /** The oldest first. */
  readonly lines: readonly string[]
}

/** Writes lines to stderr, and keeps them. */
export const tailing =
  (tail: LogTail) =>
  (line: string): void => {
    tail.add(line)
    writeStderr(line)
  }

export function createLogTail(): LogTail {
  let lines: string[] = []
  return {
    add(line) {
      lines.push(line.trimEnd())
      if (lines.length >= 2 * TAIL_LINES_MAX) lines = lines.slice(-TAIL_LINES_MAX)
    },
    get lines() {
      return lines.slice(-TAIL_LINES_MAX).filter((line) => line.length <= LINE_LENGTH_MAX)
    },
  }
}
