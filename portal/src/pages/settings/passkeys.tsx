// The passkeys of the one who is signed in. The last one stays: it is the only way in.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../client/call.ts'
import type { Passkey } from '../../client/operations.ts'
import { changed, read } from '../../client/queries.ts'
import { withTouch } from '../../client/touch.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Section } from '../../parts/section.tsx'
import { When } from '../../parts/when.tsx'
import { addPasskey } from '../../sign-in/passkey.ts'
import { AnotherDevice } from './another-device.tsx'
import { NameDialog } from './name-dialog.tsx'

type Doing =
  | { readonly what: 'add' | 'device' }
  | { readonly what: 'rename' | 'remove'; readonly passkey: Passkey }

const passkeysChanged = () => changed('GET /v1/passkeys', 'GET /v1/session', 'GET /v1/sessions')

export function Passkeys() {
  const query = useQuery(read('GET /v1/passkeys', {}))
  const [doing, setDoing] = useState<Doing>()
  return (
    <Section title="Passkeys">
      <Loaded query={query} what="the list of passkeys">
        {({ data }) => <Table passkeys={data} onDo={setDoing} />}
      </Loaded>
      <div className="tools">
        <button type="button" className="btn primary" onClick={() => setDoing({ what: 'add' })}>
          Add a passkey
        </button>
        <button type="button" className="btn" onClick={() => setDoing({ what: 'device' })}>
          Add another device
        </button>
      </div>
      {doing !== undefined && <Doings doing={doing} onClose={() => setDoing(undefined)} />}
    </Section>
  )
}

function Doings({ doing, onClose }: { readonly doing: Doing; readonly onClose: () => void }) {
  switch (doing.what) {
    case 'add':
      return (
        <NameDialog
          title="Add a passkey"
          verb="Create a passkey"
          start=""
          onClose={onClose}
          save={async (name) => {
            await withTouch(() => addPasskey(name))
            await passkeysChanged()
          }}
        />
      )
    case 'rename': {
      const path = { passkey: doing.passkey.id }
      return (
        <NameDialog
          title="Rename the passkey"
          verb="Rename it"
          start={doing.passkey.name}
          onClose={onClose}
          save={async (name) => {
            await call('PATCH /v1/passkeys/:passkey', { path, body: { name } })
            await passkeysChanged()
          }}
        />
      )
    }
    case 'remove': {
      const path = { passkey: doing.passkey.id }
      return (
        <Confirm
          title={`Remove ${doing.passkey.name}`}
          verb="Remove it"
          onClose={onClose}
          act={async () => {
            await withTouch(() => call('DELETE /v1/passkeys/:passkey', { path }))
            await passkeysChanged()
          }}
        >
          It lets nobody in any more, and the sign-ins that it opened end.
        </Confirm>
      )
    }
    case 'device':
      return <AnotherDevice onClose={onClose} />
  }
}

type TableProps = {
  readonly passkeys: readonly Passkey[]
  readonly onDo: (doing: Doing) => void
}

const Table = ({ passkeys, onDo }: TableProps) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Passkey</th>
        <th scope="col" className="wide-only">
          Kept
        </th>
        <th scope="col" className="wide-only">
          Made
        </th>
        <th scope="col" className="wide-only">
          Last used
        </th>
        <th scope="col">
          <span className="spoken">Actions</span>
        </th>
      </tr>
    </thead>
    <tbody>
      {passkeys.map((passkey) => (
        <Row key={passkey.id} passkey={passkey} isLast={passkeys.length === 1} onDo={onDo} />
      ))}
    </tbody>
  </table>
)

function Row(props: {
  readonly passkey: Passkey
  readonly isLast: boolean
  readonly onDo: (doing: Doing) => void
}) {
  const { passkey, isLast, onDo } = props
  const { name, synced, created_at, last_used_at } = passkey
  const kept = synced ? 'shared by your devices' : 'on one device'
  return (
    <tr data-row>
      <td className="wrap-anywhere">
        <b>{name}</b>
        <span className="under">{kept}</span>
        {isLast && (
          <span className="tiny"> This is your only way in. Add another one to remove it.</span>
        )}
      </td>
      <td className="wide-only">{kept}</td>
      <td className="wide-only">
        <When at={created_at} />
      </td>
      <td className="wide-only">{last_used_at === null ? 'never' : <When at={last_used_at} />}</td>
      <td aria-label="Actions">
        <div className="tools">
          <button
            type="button"
            className="btn small"
            onClick={() => onDo({ what: 'rename', passkey })}
          >
            Rename
          </button>
          <button
            type="button"
            className="btn small danger"
            disabled={isLast}
            onClick={() => onDo({ what: 'remove', passkey })}
          >
            Remove
          </button>
        </div>
      </td>
    </tr>
  )
}
