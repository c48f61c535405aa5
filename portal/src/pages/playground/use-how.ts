// Method and band of an answer's energy, from its charge. The node's meter says nothing of an answer.
import { useQuery } from '@tanstack/react-query'
import { read } from '#console/client/queries.ts'
import { knownBy, type How } from '#console/figures/known.ts'
import { useLive } from '#console/live/use-live.ts'
import type { Turn } from './turn.ts'

const AGAIN_MS = 1_000
const READS_MAX = 10

/** Undefined until the charge is made. */
export function useHow(turn: Turn | undefined): How | undefined {
  const { receiptId: id, endedMs } = turn ?? {}
  const live = useLive(({ charges }) => charges.find((charge) => charge.id === id))
  const entry = useQuery({
    ...read('GET /v1/ledger', { query: { id: id ?? '', limit: '1' } }),
    enabled: live === undefined && id !== undefined && endedMs !== undefined,
    refetchInterval: ({ state: { data, dataUpdateCount: times } }) =>
      times < READS_MAX && (data?.data.length ?? 0) === 0 ? AGAIN_MS : false,
  })
  const { method, band_pct: band } = live ?? entry.data?.data[0] ?? {}
  return method == null ? undefined : { known: knownBy(method), bandPct: Number(band) }
}
