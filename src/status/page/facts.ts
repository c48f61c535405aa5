// The facts that the page has from the state: incidents, regions, models, error rates, and whether the books and the signers
// work. A read is a few queries; their answer is kept, and shown while the state does not answer.
import { INCIDENT_COLUMNS, type PublicIncident } from '#status/incident-columns.ts'
import { booksFigures } from '#status/metrics/books-figures.ts'
import { RATE_HOURS, RATE_REQUESTS_LEAST } from '#contract/accounts/error-rate-limits.ts'
import { fault } from '#contract/errors.ts'
import type { State } from '#state/connect.ts'
import type { PartMeasure } from './measure.ts'
import { INFERENCE_PART } from './parts.ts'

export const INCIDENTS_SHOWN = 50
export const RATES_SHOWN = 200
/** Time for which a probe counts. */
const PROBE_HOURS = 1
const MODELS_SHOWN = 50
const ANSWER_MS_MAX = 10_000
/** Signers that a receipt needs. */
const SIGNERS_LEAST = 3

type ModelState = { readonly id: string; readonly state: 'ready' | 'loading' | 'failed' }
type AccountRate = { readonly name: string; readonly requests: number; readonly failures: number }

export type StateFacts = {
  readonly incidents: readonly PublicIncident[]
  readonly regions: readonly string[]
  readonly models: readonly ModelState[]
  readonly rates: readonly AccountRate[]
  readonly ledger: PartMeasure
  readonly receipts: PartMeasure
  /** Parts that failed the installation's last probe of them. */
  readonly failedProbes: readonly string[]
  readonly hasWebhooks: boolean
  readonly hasDatabases: boolean
  /** Resources with a route. */
  readonly hasRoutes: boolean
}

const INCIDENTS = `
  select ${INCIDENT_COLUMNS} from incidents i
  order by i.ended_at is null desc, i.started_at desc, i.id desc limit ${INCIDENTS_SHOWN}`
const REGIONS = `
  select region from resources where desired <> 'deleted' union select region from buckets
  union select region from incidents where ended_at is null order by region`
const MODELS = `
  select id, state from models where state <> 'removed' order by position, id limit ${MODELS_SHOWN}`
// The order is by the share of failures and then by a random name: it says nothing about sizes.
const RATES = `
  select n.name, sum(h.requests)::int8 as requests, sum(h.failures)::int8 as failures
  from account_hours h join public_names n using (account)
  where h.hour > ledger_now() - interval '${RATE_HOURS} hours'
  group by n.name having sum(h.requests) >= ${RATE_REQUESTS_LEAST}
  order by sum(h.failures) / sum(h.requests) desc, n.name limit ${RATES_SHOWN}`
// Their processes begin with the first of each.
const BEGUN = `
  select exists (select from webhook_endpoints) as webhooks,
    exists (select from resources where kind = 'database' and desired <> 'deleted') as databases,
    exists (select from ingress_routes) as routes`

const PROBES = `
  select part from (select distinct on (component) state,
      case component when 'embeddings' then '${INFERENCE_PART}' else component end as part
    from probe_results where at > now() - interval '${PROBE_HOURS} hours' order by component, at desc) last
  where state = 'failed'`

/** Asks the state. Rejects when it does not answer in time. */
export async function readFacts(state: State): Promise<StateFacts> {
  const rowsOf = async <R extends object>(query: string) =>
    (await state.query<R & Record<string, unknown>>(query)).rows
  const read = async (): Promise<StateFacts> => {
    const books = await booksFigures(state)
    const [begun] = await rowsOf<Record<'webhooks' | 'databases' | 'routes', boolean>>(BEGUN)
    const { signersReady } = books
    return {
      incidents: await rowsOf<PublicIncident>(INCIDENTS),
      regions: (await rowsOf<{ region: string }>(REGIONS)).map(({ region }) => region),
      models: await rowsOf<ModelState>(MODELS),
      rates: (await rowsOf<{ name: string; requests: string; failures: string }>(RATES)).map(
        ({ name, requests, failures }) => ({
          name,
          requests: Number(requests),
          failures: Number(failures),
        }),
      ),
      ledger: books.isHalted ? 'down' : 'ok',
      receipts:
        signersReady === undefined ? undefined : signersReady < SIGNERS_LEAST ? 'down' : 'ok',
      failedProbes: (await rowsOf<{ part: string }>(PROBES)).map(({ part }) => part),
      hasWebhooks: begun?.webhooks === true,
      hasDatabases: begun?.databases === true,
      hasRoutes: begun?.routes === true,
    }
  }
  return await within(read())
}

/** A state that hangs is a state that does not answer. */
async function within<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(fault('state_unavailable', 'Could not read the state: no answer in time')),
      ANSWER_MS_MAX,
    )
  })
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
