// The charges of this day of UTC of all resources of a kind, in one read.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { read, readPages, rowsOf, useRest } from '#console/client/queries.ts'
import { moneyShort } from '#console/figures/money.ts'
import { useUnit } from '#console/live/use-unit.ts'
import { Energy } from '#console/parts/energy/energy.tsx'
import type { Fact } from '#console/parts/page/facts.tsx'
import { useNow } from '#console/parts/time/zone.ts'

/** The energy of the day is at most so old. */
const ENERGY_MS = 60_000

const TOKENS_PAGE = '1000'

/** Its service has the name of the kind in the plural. */
export type Kind = 'function' | 'workload'

export type Charged = { readonly nj: bigint; readonly pusd: bigint }

/** Undefined until it is known. */
export function useEnergyToday(kind: Kind, id: string): Charged | undefined {
  const day = useNow('day').toISOString().slice(0, 10)
  const { data } = useQuery({
    ...read('GET /v1/usage', {
      query: { from: `${day}T00:00:00Z`, group_by: 'resource', service: `${kind}s` },
    }),
    refetchInterval: ENERGY_MS,
  })
  if (data === undefined) return undefined
  const row = data.data.find(({ group }) => group === id)
  return { nj: BigInt(row?.energy_nj ?? 0), pusd: BigInt(row?.charge_pusd ?? 0) }
}

/** Of tokens, by their ids; undefined until it is known. */
export function useTokensToday(): ReadonlyMap<string, bigint> | undefined {
  const day = useNow('day').toISOString().slice(0, 10)
  const pages = useInfiniteQuery({
    ...readPages('GET /v1/usage', {
      query: { from: `${day}T00:00:00Z`, group_by: 'token', limit: TOKENS_PAGE },
    }),
    refetchInterval: ENERGY_MS,
  })
  useRest(pages)
  if (pages.data === undefined || pages.hasNextPage) return undefined
  return new Map(rowsOf(pages.data).map(({ group, energy_nj }) => [group ?? '', BigInt(energy_nj)]))
}

/** Nothing until it is known. */
export function EnergyToday({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const today = useEnergyToday(kind, id)
  return today === undefined ? null : <Energy nj={today.nj} />
}

/** The charges of this day of UTC as a fact, with their price. */
export function useTodayFact(today: Charged | undefined): Fact {
  const unit = useUnit()
  return [
    'Today',
    today === undefined ? '' : <Energy key="today" nj={today.nj} />,
    today !== undefined && `${moneyShort(today.pusd, unit)} since 00:00 UTC`,
  ]
}
