// The ledger under the filters of the address: pages of the API, and above them the charges that came since.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { readPages, rowsOf } from '#console/client/queries.ts'
import type { LiveCharge } from '#console/live/state.ts'
import { useLive } from '#console/live/use-live.ts'
import { useMissed } from '#console/live/use-missed.ts'
import { useNow } from '#console/parts/time/zone.ts'
import { balanced, joined, rowOfCharge, rowOfEntry } from '#console/parts/ledger/ledger-row.ts'
import { useHeld } from './use-held.ts'

const PAGE = '200'
const DAY_MS = 86_400_000

export type Filters = {
  readonly id?: string
  readonly service?: string
  readonly since?: 'week' | 'all'
}

export function useFilters() {
  const filters = useSearch({ strict: false }) as Filters
  const navigate = useNavigate()
  const change = (next: { readonly [Name in keyof Filters]: Filters[Name] | undefined }) =>
    void navigate({ to: '.', search: { ...filters, ...next } as never, replace: true })
  return { filters, change }
}

/** The query of the API; the id of anything is looked up at any time. */
export function queryOf({ id, service, since }: Filters, today: Date) {
  const day = today.toISOString().slice(0, 10)
  const week = new Date(today.getTime() - 7 * DAY_MS).toISOString().slice(0, 10)
  const from = since === undefined ? `${day}T00:00:00Z` : `${week}T00:00:00Z`
  return {
    ...(id === undefined && since !== 'all' && { from }),
    ...(id !== undefined && { id }),
    ...(service !== undefined && { service }),
  }
}

export function useLedger(filters: Filters) {
  const today = useNow('day')
  const asked = queryOf(filters, today)
  const query = useInfiniteQuery(readPages('GET /v1/ledger', { query: { ...asked, limit: PAGE } }))
  const { rows: live, waiting } = useHeld(useLive(({ charges }) => charges))
  const { data } = query
  // A further page is older: it has none of the missed charges.
  const missedSince = useMissed(data?.pages[0])
  const { id, service } = filters
  const { from } = asked
  // Ten thousand rows are made again when one comes, and not each second.
  const read = useMemo(() => rowsOf(data).map(rowOfEntry), [data])
  const rows = useMemo(() => {
    const fits = (charge: LiveCharge) => service === undefined || charge.service === service
    const isLive = id === undefined && data !== undefined
    return joined(isLive ? live.filter(fits).map(rowOfCharge) : [], read, from)
  }, [live, read, id, service, data, from])
  const first = data?.pages[0]
  const isWhole = filters.id === undefined && filters.service === undefined
  const balance = first?.balance_pusd ?? undefined
  return {
    query,
    sums: first?.sums ?? undefined,
    /** Charges that neither the pages nor the stream gave. */
    missed: missedSince,
    /** Charges of the stream that wait until the list is at its top. */
    waiting,
    rows: useMemo(
      () =>
        balanced(rows, read.length, {
          balance: isWhole && balance !== undefined ? BigInt(balance) : undefined,
          isFreshWhole: missedSince === 0,
        }),
      [rows, read, isWhole, balance, missedSince],
    ),
  }
}
