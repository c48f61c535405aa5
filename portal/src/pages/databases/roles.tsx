// The roles of a database: who may connect, and as what. A password is asked for when it is copied, and never drawn.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { changed } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { Copy } from '#console/parts/page/copy.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { actions, Table, type Column } from '#console/parts/page/table.tsx'
import type { Database, Role } from './database.ts'
import { NewRole } from './new-role.tsx'
import { useRoles } from './use-databases.ts'

type Doing = { readonly what: 'make' } | { readonly what: 'renew' | 'delete'; readonly role: Role }

/** The service made them: they go with the database. */
const OWNER = 'owner'
const QUERIES = '_query'

export function Roles({ database }: { readonly database: Database }) {
  const { id } = database
  const query = useRoles(database)
  const [doing, setDoing] = useState<Doing>()
  const stop = () => setDoing(undefined)
  return (
    <Section title="Roles" aside="each has a password of its own">
      <Loaded query={query} what="the list of roles">
        {({ data }) => (
          <Table rows={data} keyOf={({ name }) => name} columns={columnsOf(id, setDoing)} />
        )}
      </Loaded>
      <div className="tools after">
        <button type="button" className="btn" onClick={() => setDoing({ what: 'make' })}>
          New role
        </button>
      </div>
      {doing?.what === 'make' && <NewRole database={id} onClose={stop} />}
      {doing?.what === 'renew' && (
        <Confirm
          title={`Rotate the password of ${doing.role.name}`}
          verb="Rotate it"
          onClose={stop}
          act={() =>
            withTouch(() =>
              call('PUT /v1/databases/:database/roles/:role/password', {
                path: { database: id, role: doing.role.name },
              }),
            )
          }
        >
          The old password is refused a second later. Sessions that are open go on. Copy the new
          address afterwards.
        </Confirm>
      )}
      {doing?.what === 'delete' && (
        <Confirm
          title={`Delete the role ${doing.role.name}`}
          verb="Delete it"
          onClose={stop}
          act={() => remove(id, doing.role)}
        >
          Its sessions end, and it cannot connect any more. Tables that it made stay: they are the
          owner’s.
        </Confirm>
      )}
    </Section>
  )
}

async function remove(database: string, { name: role }: Role): Promise<void> {
  await call('DELETE /v1/databases/:database/roles/:role', { path: { database, role } })
  await changed('GET /v1/databases/:database/roles')
}

const addressOf = async (database: string, { name: role }: Role): Promise<string> => {
  const asked = { path: { database }, query: { role } }
  return (await withTouch(() => call('GET /v1/databases/:database/url', asked))).url
}

const mayOf = ({ name, read_only }: Role): string => {
  if (name === QUERIES) return 'reads, for the queries of this page'
  if (name === OWNER) return 'owns the database'
  return read_only ? 'reads' : 'does what the owner may'
}

const columnsOf = (database: string, setDoing: (doing: Doing) => void): readonly Column<Role>[] => [
  {
    title: 'Role',
    className: 'wrap-anywhere',
    cell: (role) => (
      <>
        <b>{role.name}</b>
        <span className="under">{mayOf(role)}</span>
      </>
    ),
  },
  { title: 'May', className: 'wide-only', cell: mayOf },
  {
    title: 'User of its address',
    className: 'wide-only',
    cell: ({ login }) => <span className="id">{login}</span>,
  },
  actions(
    (role) =>
      role.name !== QUERIES && (
        <>
          {role.name !== OWNER && (
            <Copy
              className="btn small"
              label="Copy connection string"
              text={() => addressOf(database, role)}
            />
          )}
          <button
            type="button"
            className="btn small"
            onClick={() => setDoing({ what: 'renew', role })}
          >
            Rotate password
          </button>
          {role.name !== OWNER && (
            <button
              type="button"
              className="btn small danger"
              onClick={() => setDoing({ what: 'delete', role })}
            >
              Delete
            </button>
          )}
        </>
      ),
  ),
]
