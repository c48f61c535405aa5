// The hosts of workloads after the operator has changed the address of functions.
import type { Logger } from '#base/log.ts'
import { isHostTaken } from '#resources/hosts.ts'
import type { Queryable } from '#state/connect.ts'

const ELSEWHERE = `select w.id from workloads w join resources n using (id)
  where n.desired <> 'deleted' and w.host <> workload_host(n.name, n.account, $1) order by w.id`

/**
 * Gives all workloads their hosts below another one, each by a statement of its own: no other change waits for more than one,
 * and a start after a kill goes on. A workload whose new host is a route of another resource keeps its host, and the log has it.
 */
export async function rehostWorkloads(
  { state, log }: { readonly state: Queryable; readonly log: Logger },
  below: string,
): Promise<void> {
  const { rows } = await state.query<{ id: string }>(ELSEWHERE, [below])
  for (const { id } of rows)
    await state.query('select rehost_workload($1, $2)', [id, below]).catch((error: unknown) => {
      if (!isHostTaken(error)) throw error
      log.warn('A workload keeps its old host: another resource has a route there', { id, below })
    })
}
