// Power figures from the state: the newest window of this node's meter, for each scrape. The meter is in
// the agent, which has no TCP port and sends its windows to the state each second.
import type { WindowRecord } from '#metering/window-record.ts'
import type { State } from '#state/connect.ts'
import { modelOfCell } from '#node/cell-names.ts'

export type PowerFigures = {
  /** Since the window closed. */
  readonly ageS: number
  readonly watts: number
  readonly idleWatts: number
  readonly method: string
  /** Declared error of the method, as a share. */
  readonly bandRatio: number
  readonly cells: readonly CellWatts[]
}
type CellWatts = {
  readonly labels: {
    readonly cell: string
    readonly payer: string
    /** The share of cells that run a model. */
    readonly model?: string
  }
  readonly watts: number
}

const NEWEST = `
  select convert_from(bytes, 'UTF8') as text,
    extract(epoch from ledger_now())::float8 - k as age
  from windows where meter = $1 order by k desc limit 1`

/** Cells with a label of their own: Ergon starts about ten and one for each model. */
const CELLS_MAX = 200
/** An older window says nothing of now. */
const AGE_S_MAX = 30

/** Undefined where the meter has closed no window lately. Rejects when the state does not answer. */
export async function powerFigures(
  state: Pick<State, 'query'>,
  meter: string,
): Promise<PowerFigures | undefined> {
  const { rows } = await state.query<{ text: string; age: number }>(NEWEST, [meter])
  const row = rows[0]
  if (row === undefined || row.age > AGE_S_MAX) return undefined
  return powerFiguresOf(JSON.parse(row.text) as WindowRecord, row.age)
}

/** A window's power; a nanojoule in a nanosecond is a watt. */
export function powerFiguresOf(window: WindowRecord, ageS: number): PowerFigures {
  const elapsedNs = Number(window.elapsed_ns)
  const watts = (energyNj: number) => (elapsedNs === 0 ? 0 : energyNj / elapsedNs)
  return {
    ageS: Math.max(0, ageS),
    watts: watts(Number(window.reading_nj)),
    idleWatts: watts(Number(window.idle_nj)),
    method: window.method,
    bandRatio: Number(window.band_pct) / 100,
    cells: window.shares.slice(0, CELLS_MAX).map(({ name, payer, dynamic_nj, idle_nj }) => {
      const model = modelOfCell(name)
      const labels = { cell: name, payer, ...(model === undefined ? {} : { model }) }
      return { labels, watts: watts(Number(dynamic_nj) + Number(idle_nj)) }
    }),
  }
}
