// The deletion of a resource, by the function delete_<kind> of its product.
import { recordAct, type ActingCall } from '#identity/audit.ts'
import type { StackPart } from './stack-part.ts'
import type { Queryable } from '#state/connect.ts'

/** As description files remove a resource. */
export const removeOf =
  (kind: 'database' | 'function' | 'workload'): StackPart<never>['remove'] =>
  async (transaction, call, { id }) => {
    await deleteResource(transaction, call, { kind, id })
    return 'removed'
  }

/** Deletes a resource, with an entry in the audit log. */
export async function deleteResource(
  transaction: Queryable,
  call: ActingCall,
  { kind, id }: { readonly kind: string; readonly id: string },
): Promise<void> {
  await recordAct(transaction, call, { action: `${kind}.delete`, target: id })
  await transaction.query(`select delete_${kind}($1)`, [id])
}
