// Sums over the facts of the node.
import type { ReplyOf } from '#console/client/operations.ts'
import type { Tone } from '#console/parts/page/state-word.tsx'

export type NodeFacts = NonNullable<ReplyOf<'GET /v1/operator/node'>['facts']>
export type CellFacts = NodeFacts['cells'][number]

/** Watts with up to nine decimals, as nanojoules a second. */
export function njPerS(watts: string): bigint {
  const [whole = '0', decimals = ''] = watts.replace('-', '').split('.')
  const size = BigInt(whole) * 1_000_000_000n + BigInt(decimals.padEnd(9, '0').slice(0, 9))
  return watts.startsWith('-') ? -size : size
}

/** The power of the node, by its causes. */
export type PowerParts = {
  /** Added by work that accounts pay for. */
  readonly billed: bigint
  /** Added by our own processes. */
  readonly ours: bigint
  /** Added by the agent and by processes of the machine that are none of ours. */
  readonly others: bigint
  /** Drawn anyway. */
  readonly idle: bigint
}

export function powerParts({ meter, cells }: Pick<NodeFacts, 'meter' | 'cells'>): PowerParts {
  const idle = njPerS(meter.idle_watts)
  const added = njPerS(meter.watts) - idle
  const addedBy = (some: readonly CellFacts[]) =>
    some.reduce((sum, cell) => sum + njPerS(cell.watts) - njPerS(cell.idle_watts), 0n)
  const accounts = addedBy(cells.filter(({ payer }) => payer !== 'operator'))
  const billed = within(njPerS(meter.billed_watts) + accounts, added)
  const ours = within(addedBy(cells) - billed, added - billed)
  return { billed, ours, others: added - billed - ours, idle }
}

/** Tariff and window differ by the true-up, so that a part may exceed the whole by a little. */
const within = (value: bigint, most: bigint): bigint =>
  value < 0n ? 0n : value > most ? most : value

/** The windows of a meter, and how many were closed by a lesser method. */
export const windowsWords = ({
  windows,
  windows_fallback: fallback,
}: Pick<NodeFacts['meter'], 'windows' | 'windows_fallback'>): string =>
  fallback === '0'
    ? `${windows}, all by the best method there is`
    : `${windows}, ${fallback} of them by the model, as the sensor was passed over`

const TONES: Readonly<Record<CellFacts['state'], Tone>> = {
  starting: 'muted',
  ready: 'ok',
  waiting: 'bad',
  stopping: 'muted',
  stopped: 'muted',
}
const WORDS: Readonly<Record<CellFacts['state'], string>> = {
  starting: 'Starts',
  ready: 'Runs',
  waiting: 'Starts again soon',
  stopping: 'Stops',
  stopped: 'Stopped',
}

export const cellState = ({ state }: CellFacts) => ({ tone: TONES[state], word: WORDS[state] })
