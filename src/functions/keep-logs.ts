// The lines that functions write, into the state: a second's lines of all functions at once. A function that writes more than
// its share of a second loses the rest, and its log says so.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { FUNCTION_LOG_LINES_MAX } from '#contract/function-limits.ts'
import type { Queryable } from '#state/connect.ts'
import type { FunctionLine } from './driver.ts'

const FLUSH_MS = 500
const LINES_MAX = 200
const CHARACTERS_MAX = 65_536

type LinesOfNow = {
  readonly lines: (FunctionLine & { readonly at: string })[]
  characters: number
  dropped: number
}

export interface FunctionLogs {
  add(line: FunctionLine): void
  /** Works until the signal aborts, and then writes what is left. Never rejects. */
  run(signal: AbortSignal): Promise<void>
}

export function createLogKeeper({
  state,
  log,
}: {
  readonly state: Queryable
  readonly log: Logger
}): FunctionLogs {
  let waiting = new Map<string, LinesOfNow>()
  const flush = async () => {
    if (waiting.size === 0) return
    const all = [...waiting.values()]
    waiting = new Map()
    const lines = all.flatMap((one) => [...one.lines, ...droppedOf(one)])
    await state
      .query('select log_functions($1, $2)', [JSON.stringify(lines), FUNCTION_LOG_LINES_MAX])
      .catch((error: unknown) =>
        log.warn('Lines of functions are lost', { lines: lines.length, error: messageOf(error) }),
      )
  }
  return {
    add(line) {
      const one = waiting.get(line.function) ?? { lines: [], characters: 0, dropped: 0 }
      waiting.set(line.function, one)
      const isFull =
        one.lines.length >= LINES_MAX || one.characters + line.text.length > CHARACTERS_MAX
      if (isFull) return void one.dropped++
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

function droppedOf({ lines: [first], dropped }: LinesOfNow) {
  if (first === undefined || dropped === 0) return []
  const text = `${dropped} lines were dropped: more than ${LINES_MAX}, or ${CHARACTERS_MAX} characters, in ${FLUSH_MS} ms`
  return [{ ...first, request: null, level: 'warn' as const, text, at: new Date().toISOString() }]
}
