// The charge of an answer, once it is made: its figures are those of the ledger. The node's meter says nothing of an answer.
import { useQuery } from '@tanstack/react-query'
import { read } from '#console/client/queries.ts'
import { howOf } from '#console/figures/known.ts'
import { useLive } from '#console/live/use-live.ts'
import type { Turn, TurnCharge } from './turn.ts'

const AGAIN_MS = 1_000
const READS_MAX = 10

/** Undefined until the charge is made. */
export function useCharge(turn: Turn | undefined): TurnCharge | undefined {
  const { receiptId: id, endedMs } = turn ?? {}
  const live = useLive(({ charges }) => charges.find((charge) => charge.id === id))
  const entry = useQuery({
    ...read('GET /v1/ledger', { query: { id: id ?? '', limit: '1' } }),
    enabled: live === undefined && id !== undefined && endedMs !== undefined,
    refetchInterval: ({ state: { data, dataUpdateCount: times } }) =>
      times < READS_MAX && (data?.data.length ?? 0) === 0 ? AGAIN_MS : false,
  })
  const listed = entry.data?.data[0]
  const charge = live ?? listed
  const pusd = live?.charge_pusd ?? listed?.amount_pusd.replace('-', '')
  return charge?.method == null || charge.energy_nj === null || pusd === undefined
    ? undefined
    : { how: howOf(charge), nj: BigInt(charge.energy_nj), pusd: BigInt(pusd) }
}
