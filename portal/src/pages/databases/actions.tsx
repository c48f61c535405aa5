// The actions on a database.
import { call } from '#console/client/call.ts'
import { ResourceActions } from '#console/parts/resources/resource-actions.tsx'
import { ChangeDatabase } from './change-database.tsx'
import type { Database } from './database.ts'
import { databasesChanged } from './use-databases.ts'

export function Actions({ database }: { readonly database: Database }) {
  const { id, name, status } = database
  return (
    <ResourceActions
      name={name}
      status={status}
      list="/databases"
      suspend={async (suspended) => {
        await call('PATCH /v1/databases/:database', { path: { database: id }, body: { suspended } })
        await databasesChanged()
      }}
      remove={async () => {
        await call('DELETE /v1/databases/:database', { path: { database: id } })
        await databasesChanged()
      }}
      suspendWords="All connections end, and nobody can connect until it is resumed. Nothing is deleted; stored bytes still cost."
      removeWords="All connections end and the data is deleted. While its backups last, a new database can be made from them."
      change="Size and budget"
      dialog={(onClose) => <ChangeDatabase database={database} onClose={onClose} />}
    />
  )
}
