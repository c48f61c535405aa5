// The operator's operations on incidents: a region that is degraded, and the accounts that have something there.
import { newId } from '#base/ids.ts'
import type { INCIDENTS_CONTROL } from '#contract/control/incidents.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import type { ControlAnswer } from '#contract/control.ts'
import { fault } from '#contract/errors.ts'
import type { State } from '#state/connect.ts'

const LISTED_MAX = 1000
const COLUMNS = 'id, region, summary, started_at, ended_at, accounts'
type Incident = ControlAnswer<'incident.close'>

/** `ownRegion` is this node's: an incident there needs no resource. */
export const incidentHandlers = (
  state: State,
  ownRegion: string,
): ControlHandlers<typeof INCIDENTS_CONTROL> => ({
  async 'incident.open'({ region, summary, started_at: startedAt }) {
    if (region !== ownRegion && !(await isUsed(state, region)))
      throw fault('invalid_request', `Could not open an incident: no region is named "${region}"`)
    if (startedAt !== undefined && Date.parse(startedAt) > Date.now())
      throw fault('invalid_request', `Could not open an incident: ${startedAt} is in the future`)
    const id = newId('inc')
    const { rows } = await state.query<{ told: number | null }>(
      'select begin_incident($1, $2, $3, coalesce($4::timestamptz, ledger_now())) as told',
      [id, region, summary, startedAt ?? null],
    )
    if (rows[0]?.told == null)
      throw fault(
        'incident_open',
        `Could not open an incident: the region "${region}" has an open one`,
      )
    return await incidentOf(state, id)
  },
  async 'incident.close'({ incident }) {
    const { rowCount } = await state.query(
      'update incidents set ended_at = ledger_now() where id = $1 and ended_at is null',
      [incident],
    )
    if (rowCount === 0)
      throw fault('not_found', `Could not close the incident: no open one has the id "${incident}"`)
    return await incidentOf(state, incident)
  },
  'incident.list': async () =>
    (
      await state.query<Incident>(
        `select ${COLUMNS} from incidents order by started_at desc, id desc limit ${LISTED_MAX}`,
      )
    ).rows,
})

async function isUsed(state: State, region: string): Promise<boolean> {
  const { rowCount } = await state.query(
    'select region from resources where region = $1 union select region from buckets where region = $1',
    [region],
  )
  return rowCount > 0
}

async function incidentOf(state: State, id: string): Promise<Incident> {
  const { rows } = await state.query<Incident>(`select ${COLUMNS} from incidents where id = $1`, [
    id,
  ])
  const [row] = rows
  if (row === undefined) throw fault('not_found', `Could not find the incident "${id}"`)
  return row
}
