// The log of a function or workload: the lines that are there, and with -f those that follow.
import { sleep } from '#base/clock.ts'
import type { CommandCall } from './call.ts'
import { print, tell } from './output.ts'
import { wholeOption } from './points-options.ts'
import { readPatiently } from './read-patiently.ts'

const LOOK_MS = 1000
/** A second's lines are at most 400. */
const FOLLOWED_MAX = 1000
const SHOWN = 200

export type ShownLog<Line> = {
  readonly name: string
  /** The parameter of the API that says how many lines are wanted. */
  readonly count: 'lines' | 'limit'
  readonly read: (query: string) => Promise<{ readonly data: readonly Line[]; cursor: string }>
  readonly textOf: (line: Line) => string
}

export async function showLog<Line>(
  options: CommandCall['options'],
  { name, count, read, textOf }: ShownLog<Line>,
): Promise<void> {
  const show = (lines: readonly Line[]) => {
    for (const line of lines) print(options.json ? JSON.stringify(line) : textOf(line))
  }
  const wanted = wholeOption(options, 'lines') ?? SHOWN
  let { data, cursor } = await read(`${count}=${wanted}`)
  show(data)
  if (data.length === 0 && options.json !== true) tell(`${name} has written nothing yet`)
  while (options['follow'] === true) {
    await sleep(LOOK_MS)
    const query = `after=${cursor}&${count}=${FOLLOWED_MAX}`
    ;({ data, cursor } = await readPatiently(() => read(query)))
    show(data)
  }
}
