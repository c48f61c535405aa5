// The table of the ledger. Only rows in view are drawn, so ten thousand scroll as ten do.
import { useRouter, useRouterState } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
  type MouseEvent,
} from 'react'
import { TimeHead } from '#console/parts/time/when.tsx'
import { useNow, useZone } from '#console/parts/time/zone.ts'
import { isOfProbe, subjectOf, type BalancedRow } from '#console/parts/ledger/ledger-row.ts'
import { PROBE_WORDS, useProbe } from '#console/parts/ledger/use-probe.ts'
import { useLive } from '#console/live/use-live.ts'
import { useUnit } from '#console/live/use-unit.ts'
import { EntryRow } from './entry-row.tsx'

const ROW_PX = 39
const ROW_PHONE_PX = 52
const OVERSCAN = 8
/** The next page is asked for when so few read rows are below. */
const AHEAD = 40

export function Rows(props: {
  readonly rows: readonly BalancedRow[]
  readonly opened: string | undefined
  readonly total: number
  readonly more: (() => void) | undefined
}) {
  const { rows, opened, total, more } = props
  // All rows share zone and now: a row with its own would begin two timers and a query each time it comes into view.
  const zone = useZone()
  const now = useNow('day')
  const unit = useUnit()
  const resources = useLive((state) => state.resources)
  const probe = useProbe()
  const search = useRouterState({ select: ({ location }) => location.searchStr })
  const open = useOpenInPlace()
  const body = useRef<HTMLTableSectionElement>(null)
  const isNarrow = useIsNarrow()
  const virtual = useRowWindow(rows.length, body, isNarrow ? ROW_PHONE_PX : ROW_PX)
  const shown = virtual.getVirtualItems()
  const [first, last] = [shown[0], shown.at(-1)]
  const isNearEnd = last !== undefined && last.index >= rows.length - AHEAD
  useEffect(() => {
    if (isNearEnd) more?.()
  }, [isNearEnd, rows.length, more])
  const times = useMemo(() => ({ zone, now }), [zone, now])
  const above = first === undefined ? 0 : first.start - virtual.options.scrollMargin
  const below =
    last === undefined ? 0 : virtual.getTotalSize() - (last.end - virtual.options.scrollMargin)
  return (
    <table className="entries" aria-rowcount={Math.max(total, rows.length) + 1}>
      <thead>
        <tr>
          <th className="c-seal wide-only">
            <span className="spoken">Seal</span>
          </th>
          <th className="c-time wide-only">
            <TimeHead />
          </th>
          <th>What</th>
          <th className="c-joules num">Joules</th>
          <th className="c-known wide-only">
            <span className="spoken">Known by</span>
          </th>
          <th className="c-money num wide-only">Money</th>
          <th className="c-balance num wide-only">Balance after</th>
        </tr>
      </thead>
      <tbody ref={body}>
        <Gap px={above} />
        {shown.map(({ index }) => {
          const row = rows[index]
          return row === undefined ? null : (
            <EntryRow
              key={row.id}
              row={row}
              subject={isOfProbe(row, probe) ? PROBE_WORDS : subjectOf(row, resources)}
              index={index}
              isOpened={row.id === opened}
              search={search}
              times={times}
              unit={unit}
              isNarrow={isNarrow}
              open={open}
            />
          )
        })}
        <Gap px={below} />
      </tbody>
    </table>
  )
}

function useRowWindow(count: number, body: React.RefObject<HTMLElement | null>, rowPx: number) {
  const [scrollMargin, setMargin] = useState(0)
  useLayoutEffect(() => {
    setMargin((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY)
  }, [body])
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => rowPx,
    overscan: OVERSCAN,
    scrollMargin,
  })
  // A phone that is turned has rows of another height.
  useLayoutEffect(() => virtual.measure(), [virtual, rowPx])
  return virtual
}

const narrow = matchMedia('(max-width: 760px)')
const onNarrow = (listener: () => void) => {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}
const useIsNarrow = (): boolean => useSyncExternalStore(onNarrow, () => narrow.matches)

/** Stands for rows out of view. */
const Gap = ({ px }: { readonly px: number }) =>
  px <= 0 ? null : <tr aria-hidden="true" style={{ height: px }} />

/** A plain link leads to its page without a load; a Link in each row would follow the router by itself. */
function useOpenInPlace() {
  const router = useRouter()
  return useCallback(
    (event: MouseEvent<HTMLAnchorElement>) => {
      const { currentTarget, button, metaKey, ctrlKey, shiftKey, altKey } = event
      if (button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return
      event.preventDefault()
      router.history.push(currentTarget.pathname + currentTarget.search)
    },
    [router],
  )
}
