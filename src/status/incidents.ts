// Incidents of regions: a region that is degraded, the accounts that have something there, and the texts of the status
// page. The operator's command line and the portal change them.
import { newId } from '#base/ids.ts'
import type { ControlAnswer } from '#contract/control.ts'
import { fault } from '#contract/errors.ts'
import type { IncidentOpening, IncidentTelling } from '#contract/operator/operator.ts'
import type { Queryable, State } from '#state/connect.ts'
import { INCIDENT_COLUMNS, type PublicIncident } from '#status/incident-columns.ts'

const LISTED_MAX = 1000
/** The page shows all of them. */
const UPDATES_MAX = 100
const SELECT = `select ${INCIDENT_COLUMNS}, i.accounts from incidents i`
type Incident = ControlAnswer<'incident.close'>
type IncidentUpdate = Omit<IncidentTelling, 'preview'> & { readonly incident: string }

/** Called in the transaction of the change, with the incident's id. */
export type RecordChange = (transaction: Queryable, incident: string) => Promise<void>

export interface Incidents {
  /** Throws incident_open, invalid_request. */
  open(asked: IncidentOpening, record?: RecordChange): Promise<Incident>
  /** Throws incident_not_found, invalid_request. */
  update(asked: Telling, record?: RecordChange): Promise<Incident>
  /** Throws incident_not_found, invalid_request. */
  close(asked: Telling, record?: RecordChange): Promise<Incident>
  /** The newest first. */
  list(): Promise<Incident[]>
}
type Telling = IncidentTelling & { readonly incident: string }

/** `ownRegion` is this node's: an incident there needs no resource. */
export const createIncidents = (state: State, ownRegion: string): Incidents => ({
  async open({ region, summary, started_at: startedAt, preview }, record) {
    if (region !== ownRegion && !(await isUsed(state, region)))
      throw fault('invalid_request', `Could not open an incident: no region is named "${region}"`)
    if (startedAt !== undefined && Date.parse(startedAt) > Date.now())
      throw fault('invalid_request', `Could not open an incident: ${startedAt} is in the future`)
    const id = newId('inc')
    return await changed(state, { preview, record }, async (transaction) => {
      const { rows } = await transaction.query<{ notified: number | null }>(
        'select begin_incident($1, $2, $3, coalesce($4::timestamptz, ledger_now())) as notified',
        [id, region, summary, startedAt ?? null],
      )
      if (rows[0]?.notified == null)
        throw fault(
          'incident_open',
          `Could not open an incident: the region "${region}" has an open one`,
        )
      return id
    })
  },
  async update({ preview, ...change }, record) {
    if (change.words === undefined && change.lost === undefined && change.unbilled === undefined)
      throw fault('invalid_request', 'Could not update the incident: nothing is said')
    return await changed(
      state,
      { preview, record },
      async (transaction) => await tell(transaction, change),
    )
  },
  async close({ preview, ...change }, record) {
    return await changed(state, { preview, record }, async (transaction) => {
      const { incident } = change
      const { rowCount } = await transaction.query(
        'update incidents set ended_at = ledger_now() where id = $1 and ended_at is null',
        [incident],
      )
      if (rowCount === 0)
        throw fault(
          'incident_not_found',
          `Could not close the incident: no open one has the id "${incident.slice(0, 100)}"`,
        )
      return await tell(transaction, change)
    })
  },
  list: async () =>
    (
      await state.query<PublicIncident & Incident>(
        `${SELECT} order by i.started_at desc, i.id desc limit ${LISTED_MAX}`,
      )
    ).rows,
})

/** Adds the words and replaces the texts that are given. Resolves with the incident's id. */
async function tell(transaction: Queryable, change: IncidentUpdate): Promise<string> {
  const { incident, words, lost, unbilled } = change
  const { rowCount } = await transaction.query(
    'update incidents set lost = coalesce($2, lost), unbilled = coalesce($3, unbilled) where id = $1',
    [incident, lost ?? null, unbilled ?? null],
  )
  if (rowCount === 0)
    throw fault(
      'incident_not_found',
      `Could not update the incident: none has the id "${incident.slice(0, 100)}"`,
    )
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
  { preview, record }: { readonly preview: boolean; readonly record: RecordChange | undefined },
  change: (transaction: Queryable) => Promise<string>,
): Promise<Incident> {
  let made: Incident | undefined
  try {
    await state.transaction(async (transaction) => {
      const id = await change(transaction)
      made = await incidentOf(transaction, id)
      if (preview) throw new Previewed()
      await record?.(transaction, id)
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
  if (row === undefined) throw fault('incident_not_found', `Could not find the incident "${id}"`)
  return row
}
