// Why a tenant's connection was not made: the words of the answer, and of a line in the tenant's log, as clients like fetch()
// show no part of a proxy's answer.
import { NotPermitted } from '#egress/checked-socket.ts'
import { failureWords } from '#egress/failure-words.ts'

/** Its message fits a line of status. */
export class Unreached extends Error {
  readonly status: number

  constructor(status: number, to: string, why: string) {
    const words = `Could not connect to ${to.slice(0, 200)}: ${why}`
    super(words.replaceAll(/[^\x20-\x7e]/g, '?'))
    this.status = status
  }
}

export const unreached = (to: string, error: unknown): Unreached =>
  error instanceof Unreached
    ? error
    : new Unreached(error instanceof NotPermitted ? 403 : 502, to, failureWords(error))

/** A line about the connections of a cell. */
export type EgressLine = { readonly cell: string; readonly text: string }

const MARK = '{"egress":1,'
const LINES_MAX = 5
const TIME_MS = 1000

/** Writes lines for the agent, few of a cell in a second. */
export function createTeller(write: (line: string) => void): (line: EgressLine) => void {
  const lineCounts = new Map<string, number>()
  setInterval(() => lineCounts.clear(), TIME_MS).unref()
  return ({ cell, text }) => {
    const count = lineCounts.get(cell) ?? 0
    if (count >= LINES_MAX) return
    lineCounts.set(cell, count + 1)
    write(`${JSON.stringify({ egress: 1, cell, text })}\n`)
  }
}

/** The line of a teller; undefined for other lines. */
export function readTold(text: string): EgressLine | undefined {
  return text.startsWith(MARK) ? (JSON.parse(text) as EgressLine) : undefined
}
