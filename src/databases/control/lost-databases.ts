// The operator's operation on the databases that lost their files.
import type { ControlHandlers } from '#contract/control-operation.ts'
import type { DATABASES_CONTROL } from '#contract/databases/control.ts'
import { fault } from '#contract/errors.ts'
import type { AgentCore } from '#node/agent-part.ts'
import { lostDatabases } from '#databases/server/make-cluster.ts'

const WANT = `select want_own_restore($1) as "isRestoring", stored_only_to($1) as "storedTo"`

/** `folder` is that of the clusters. */
export const lostDatabaseHandlers = ({
  state,
  config,
  folder,
}: Pick<AgentCore, 'state' | 'config'> & { readonly folder: string }) =>
  ({
    'database.restore-lost': async () => {
      if (!config.databases) throw fault('databases_off', 'Could not restore databases')
      return await Promise.all(
        (await lostDatabases(state, folder)).map(async ({ id, account, name }) => {
          const { rows } = await state.query<{ isRestoring: boolean; storedTo: Date | null }>(
            WANT,
            [id],
          )
          const { isRestoring = false, storedTo = null } = rows[0] ?? {}
          return { id, account, name, is_restoring: isRestoring, stored_to: storedTo }
        }),
      )
    },
  }) satisfies ControlHandlers<typeof DATABASES_CONTROL>
