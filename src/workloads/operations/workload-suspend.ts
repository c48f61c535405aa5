// POST /v1/workloads/{id or name}/suspend and /resume.
import { recordAct, type ActingCall } from '#identity/audit.ts'
import type { Queryable } from '#state/connect.ts'

const WANTED = { 'workload.suspend': 'suspended', 'workload.resume': 'deployed' } as const

/** Sets the state that the account wants. */
export const wishWorkload =
  (action: keyof typeof WANTED) =>
  async (
    transaction: Queryable,
    call: ActingCall,
    { resource: { id } }: { readonly resource: { readonly id: string } },
  ): Promise<void> => {
    await recordAct(transaction, call, { action, target: id })
    await transaction.query('select want_resource($1, $2)', [id, WANTED[action]])
  }
