// The operator's operations on incidents: a region that is degraded, the accounts that have something there, and the
// texts of the status page.
import { newId } from '#base/ids.ts'
import type { INCIDENTS_CONTROL } from '#contract/control/incidents.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import type { ControlAnswer } from '#contract/control.ts'
import { fault } from '#contract/errors.ts'
import type { Queryable, State } from '#state/connect.ts'
import { INCIDENT_COLUMNS, type PublicIncident } from '#status/incident-columns.ts'

const LISTED_MAX = 1000
/** The page shows all of them. */
const UPDATES_MAX = 100
const SELECT = `select ${INCIDENT_COLUMNS}, i.accounts from incidents i`
type Incident = ControlAnswer<'incident.close'>
type Told = {
  readonly incident: string
  readonly words?: string | undefined
  readonly lost?: string | undefined
  readonly unbilled?: string | undefined
}

/** `ownRegion` is this node's: an incident there needs no resource. */
export const incidentHandlers = (
  state: State,
  ownRegion: string,
): ControlHandlers<typeof INCIDENTS_CONTROL> => ({
  async 'incident.open'({ region, summary, started_at: startedAt, preview }) {
    if (region !== ownRegion && !(await isUsed(state, region)))
      throw fault('invalid_request', `Could not open an incident: no region is named "${region}"`)
    if (startedAt !== undefined && Date.parse(startedAt) > Date.now())
      throw fault('invalid_request', `Could not open an incident: ${startedAt} is in the future`)
    const id = newId('inc')
    return await changed(state, preview, async (transaction) => {
      const { rows } = await transaction.query<{ told: number | null }>(
        'select begin_incident($1, $2, $3, coalesce($4::timestamptz, ledger_now())) as told',
        [id, region, summary, startedAt ?? null],
      )
      if (rows[0]?.told == null)
        throw fault(
          'incident_open',
          `Could not open an incident: the region "${region}" has an open one`,
        )
      return id
    })
  },
  async 'incident.update'({ preview, ...told }) {
    if (told.words === undefined && told.lost === undefined && told.unbilled === undefined)
      throw fault('invalid_request', 'Could not update the incident: nothing is said')
    return await changed(state, preview, async (transaction) => await tell(transaction, told))
  },
  async 'incident.close'({ preview, ...told }) {
    return await changed(state, preview, async (transaction) => {
      const { incident } = told
      const { rowCount } = await transaction.query(
        'update incidents set ended_at = ledger_now() where id = $1 and ended_at is null',
        [incident],
      )
      if (rowCount === 0)
        throw fault(
          'not_found',
          `Could not close the incident: no open one has the id "${incident}"`,
        )
      return await tell(transaction, told)
    })
  },
  'incident.list': async () =>
    (
      await state.query<PublicIncident & Incident>(
        `${SELECT} order by i.started_at desc, i.id desc limit ${LISTED_MAX}`,
      )
    ).rows,
})

/** Adds the words and replaces the texts that are given. Resolves with the incident's id. */
async function tell(transaction: Queryable, told: Told): Promise<string> {
  const { incident, words, lost, unbilled } = told
  const { rowCount } = await transaction.query(
    'update incidents set lost = coalesce($2, lost), unbilled = coalesce($3, unbilled) where id = $1',
    [incident, lost ?? null, unbilled ?? null],
  )
  if (rowCount === 0)
    throw fault('not_found', `Could not update the incident: none has the id "${incident}"`)
  if (words === undefined) return incident
  const added = await transaction.query(
    `insert into incident_updates (incident, at, words) select $1, ledger_now(), $2
     where (select count(*) from incident_updates where incident = $1) < ${UPDATES_MAX}`,
    [incident, words],
  )
  if (added.rowCount === 0)
    throw fault('invalid_request', `Could not update the incident: it has ${UPDATES_MAX} updates`)
  return incident
}

/** The incident after a change; after a preview the change is taken back. */
async function changed(
  state: State,
  isPreview: boolean,
  change: (transaction: Queryable) => Promise<string>,
): Promise<Incident> {
  let made: Incident | undefined
  try {
    await state.transaction(async (transaction) => {
      made = await incidentOf(transaction, await change(transaction))
      if (isPreview) throw new Previewed()
    })
  } catch (error) {
    if (!(error instanceof Previewed)) throw error
  }
  if (made === undefined) throw new TypeError('a change without its incident')
  return made
}

/** Ends a transaction without a change. */
class Previewed {}

async function isUsed(state: State, region: string): Promise<boolean> {
  const { rowCount } = await state.query(
    'select region from resources where region = $1 union select region from buckets where region = $1',
    [region],
  )
  return rowCount > 0
}

async function incidentOf(state: Queryable, id: string): Promise<Incident> {
  const { rows } = await state.query<PublicIncident & Incident>(`${SELECT} where i.id = $1`, [id])
  const [row] = rows
  if (row === undefined) throw fault('not_found', `Could not find the incident "${id}"`)
  return row
}
