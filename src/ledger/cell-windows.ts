// The windows of cells that accounts pay for, and how far they are charged: what a new life of the process that
// charges them begins with.
import { CELL_OPERATIONS } from '#contract/ledger/cell-operation.ts'
import type { Queryable } from '#state/connect.ts'

export type CellWindows = {
  /** The bytes of windows with such cells, in their order. */
  readonly windows: readonly Uint8Array[]
  /** The end of the last charge of each cell, in ms. Charges that name no cell are older: of their resource. */
  readonly chargedToMs: ReadonlyMap<string, number>
}

/** Older windows are not charged any more: a wallet that was empty for them is not asked long after. */
const WINDOWS_MAX = 600
/** Lives of the process whose charges are looked through. */
const LIVES_MAX = 20

/** Reads the last ten minutes of a meter; the journals of the process's earlier lives are posted before. */
export async function readCellWindows(
  state: Pick<Queryable, 'query'>,
  { meter, process }: { readonly meter: string; readonly process: string },
): Promise<CellWindows> {
  const windows = await state.query<{ bytes: Buffer }>(
    `select bytes from windows where meter = $1
       and k > (select coalesce(max(k), 0) from windows where meter = $1) - $2
       and convert_from(bytes, 'UTF8') like '%"payer":"account"%' order by k`,
    [meter, WINDOWS_MAX],
  )
  const charged = await state.query<{ name: string; to_ms: string }>(
    `select coalesce(charge ->> 'cell', charge ->> 'resource') as name,
       max(extract(epoch from to_at) * 1000)::bigint as to_ms
     from charges, lateral (select convert_from(bytes, 'UTF8')::jsonb as charge) parsed where operation = any ($3) and session = any (array(
       select id from sessions where process = $1 order by life desc limit $2)) group by 1`,
    [process, LIVES_MAX, CELL_OPERATIONS],
  )
  return {
    windows: windows.rows.map(({ bytes }) => bytes),
    chargedToMs: new Map(charged.rows.map((row) => [row.name, Number(row.to_ms)])),
  }
}
