// GET /v1/probe: what the installation's own probe found. Public, so the state is asked for all days at most once in a while.
import type { Clock } from '#base/clock.ts'
import type { EnergyMethod } from '#contract/ledger/charge.ts'
import { parseWith } from '#contract/values/parse.ts'
import {
  PROBE_COMPONENTS,
  PROBE_DAYS_MAX,
  type ProbeComponent,
} from '#contract/status/probe-components.ts'
import {
  probeQuery,
  type ProbeFigures,
  type ProbeReply,
  type ProbeState,
} from '#contract/status/probe.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'

const KEPT_MS = 10_000
const FIGURES = `at, duration_ms, energy_nj::text, carbon_pg::text, method, band_pct::text, routed_to, receipt as receipt_id,
  coalesce(receipts, '[]') as receipts`
const LATEST = `
  select distinct on (component) component, state, reason, at from probe_results order by component, at desc`
const LAST = `
  select distinct on (component) component, ${FIGURES} from probe_results where state = 'ok' order by component, at desc`
const DAYS = `
  select component, (at at time zone 'UTC')::date::text as day, count(*)::int as probes,
    count(*) filter (where state = 'failed')::int as failures,
    percentile_disc(0.5) within group (order by duration_ms) filter (where state = 'ok') as duration_ms,
    (percentile_disc(0.5) within group (order by energy_nj) filter (where state = 'ok'))::text as energy_nj
  from probe_results where state <> 'not_probed' and at > now() - interval '${PROBE_DAYS_MAX} days'
  group by component, day order by component, day desc`

type Of<Row> = Row & { readonly component: string }
type Latest = { readonly state: ProbeState; readonly reason: string | null; readonly at: Date }
type Last = Omit<ProbeFigures, 'at' | 'method'> & {
  readonly at: Date
  readonly method: EnergyMethod
}
type Day = ProbeReply['components'][number]['days'][number]

export function createProbeGet(deps: {
  readonly state: Queryable
  readonly everyS: number
  readonly clock: Pick<Clock, 'monotonicMs'>
}): Handler {
  const { state, everyS, clock } = deps
  let kept: { readonly atMs: number; readonly components: Promise<Components> } | undefined
  return async ({ query }) => {
    const { days = 1 } = parseWith(probeQuery, Object.fromEntries(query()))
    const nowMs = clock.monotonicMs()
    if (kept === undefined || nowMs - kept.atMs > KEPT_MS) {
      const components = readComponents(state)
      kept = { atMs: nowMs, components }
      // A read that failed is no answer for the next one.
      components.catch(() => (kept = undefined))
    }
    const components = (await kept.components).map((one) => ({
      ...one,
      days: one.days.slice(0, days),
    }))
    const reply: ProbeReply = { object: 'probe', every_seconds: everyS, components }
    return { kind: 'known', status: 200, body: () => reply }
  }
}

type Components = ProbeReply['components']

async function readComponents(state: Queryable): Promise<Components> {
  const latest = await rowsOf<Latest>(state, LATEST)
  const last = await rowsOf<Last>(state, LAST)
  const days = await rowsOf<Day>(state, DAYS)
  return (Object.keys(PROBE_COMPONENTS) as ProbeComponent[]).map((id) => {
    const component = PROBE_COMPONENTS[id]
    const [now] = latest.get(id) ?? []
    const [answer] = last.get(id) ?? []
    return {
      id,
      name: component.name,
      request: 'request' in component ? component.request : null,
      state: now?.state ?? 'not_probed',
      reason:
        now === undefined
          ? 'never' in component
            ? component.never
            : 'it was not asked yet'
          : now.reason,
      at: now?.at.toISOString() ?? null,
      last: answer === undefined ? null : { ...answer, at: answer.at.toISOString() },
      days: [...(days.get(id) ?? [])],
    }
  })
}

/** Rows by component. */
async function rowsOf<Row extends object>(
  state: Queryable,
  query: string,
): Promise<ReadonlyMap<string, readonly Row[]>> {
  const { rows } = await state.query<Of<Row> & Record<string, unknown>>(query)
  const plain = rows.map(({ component, ...row }) => ({ component, row: row as unknown as Row }))
  return new Map(
    Map.groupBy(plain, ({ component }) => component)
      .entries()
      .map(([id, all]) => [id, all.map(({ row }) => row)]),
  )
}
