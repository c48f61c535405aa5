// The lines that resources write, into the state: the lines of half a second of all resources at once. A resource that
// writes more than its share of that time loses the rest, and its log says so.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'

const FLUSH_MS = 500
const LINES_MAX = 200
const CHARACTERS_MAX = 65_536

export type ResourceLine = {
  /** The id of the resource. */
  readonly resource: string
  /** The part of the resource that wrote it. */
  readonly source: string | null
  readonly level: string
  readonly text: string
  /** Written by the service: kept whatever the resource writes. */
  readonly isOwn?: true
}

type LinesOfNow = {
  readonly lines: (ResourceLine & { readonly at: string })[]
  characters: number
  dropped: number
}

export interface LogKeeper {
  add(line: ResourceLine): void
  /** Works until the signal aborts, and then writes what is left. Never rejects. */
  run(signal: AbortSignal): Promise<void>
}

export function createLogKeeper({
  state,
  log,
  linesMax,
  ownLevel,
}: {
  readonly state: Queryable
  readonly log: Logger
  /** The newest lines that are kept of a resource. */
  readonly linesMax: number
  /** The level of lines of the service itself. */
  readonly ownLevel: string
}): LogKeeper {
  let waiting = new Map<string, LinesOfNow>()
  const flush = async () => {
    if (waiting.size === 0) return
    const all = [...waiting.values()]
    waiting = new Map()
    const lines = all.flatMap((one) => [...one.lines, ...droppedOf(one, ownLevel)])
    await state
      .query('select log_resources($1, $2)', [JSON.stringify(lines), linesMax])
      .catch((error: unknown) =>
        log.warn('Lines of logs are lost', { lines: lines.length, error: messageOf(error) }),
      )
  }
  return {
    add(line) {
      const one = waiting.get(line.resource) ?? { lines: [], characters: 0, dropped: 0 }
      waiting.set(line.resource, one)
      const isFull =
        one.lines.length >= LINES_MAX || one.characters + line.text.length > CHARACTERS_MAX
      if (isFull && line.isOwn !== true) return void one.dropped++
      one.characters += line.text.length
      one.lines.push({ ...line, text: textOf(line.text), at: new Date().toISOString() })
    },
    async run(signal) {
      while (!signal.aborted) {
        await sleep(FLUSH_MS, signal).catch(() => undefined)
        await flush()
      }
      await flush()
    },
  }
}

/** As PostgreSQL takes it: no NUL, no half of a pair. */
const textOf = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed()

function droppedOf({ lines: [first], dropped }: LinesOfNow, level: string) {
  if (first === undefined || dropped === 0) return []
  const text = `${dropped} lines were dropped: more than ${LINES_MAX}, or ${CHARACTERS_MAX} characters, in ${FLUSH_MS} ms`
  return [{ ...first, level, text, at: new Date().toISOString() }]
}
