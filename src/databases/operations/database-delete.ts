// DELETE /v1/databases/{id or name}: nobody can connect any more; the agent's reconciler removes the files.
import { findDatabase } from '#databases/find-database.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'

export const createDatabaseDelete =
  ({ state }: { readonly state: Queryable }): Handler =>
  async ({ who, parameters }) => {
    const { id } = await findDatabase(state, who?.account ?? '', parameters['database'] ?? '')
    await state.query('select delete_database($1)', [id])
    const reply = { id, object: 'database', deleted: true }
    return { kind: 'known', status: 200, body: () => reply }
  }
