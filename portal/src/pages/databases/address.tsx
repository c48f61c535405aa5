// The address of a database. The password is asked for when it is copied, and never drawn.
import { call } from '#console/client/call.ts'
import { withTouch } from '#console/client/touch.ts'
import { Command, Copy } from '#console/parts/page/copy.tsx'
import type { Database } from './database.ts'

export function Address({ database }: { readonly database: Database }) {
  const { id, name, role, host, port } = database
  const address = async () =>
    (await withTouch(() => call('GET /v1/databases/:database/url', { path: { database: id } }))).url
  return (
    <Command
      label="Connection string"
      text={`postgresql://${role}:••••••••@${host}:${port}/${name}`}
    >
      <Copy className="" label="Copy connection string" text={address} />
      <Copy className="" label="Copy psql" text={async () => `psql '${await address()}'`} />
    </Command>
  )
}
