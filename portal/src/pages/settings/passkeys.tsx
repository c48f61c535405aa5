// The passkeys of the one who is signed in. The last one stays: it is the only way in.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import type { Passkey } from '#console/client/operations.ts'
import { changed, read } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { actions, Table, type Column } from '#console/parts/page/table.tsx'
import { When, WhenOrNever } from '#console/parts/time/when.tsx'
import { addPasskey } from '#console/sign-in/passkey.ts'
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
        {({ data }) => <PasskeyTable passkeys={data} onDo={setDoing} />}
      </Loaded>
      <div className="tools after">
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

function PasskeyTable({ passkeys, onDo }: TableProps) {
  const isLast = passkeys.length === 1
  const buttons = actions((passkey: Passkey) => (
    <>
      <button type="button" className="btn small" onClick={() => onDo({ what: 'rename', passkey })}>
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
    </>
  ))
  return (
    <>
      <Table rows={passkeys} keyOf={({ id }) => id} columns={[...FACTS, buttons]} />
      {isLast && <p className="tiny">This is your only way in. Add another one to remove it.</p>}
    </>
  )
}

const keptOf = ({ synced }: Passkey) => (synced ? 'shared by your devices' : 'on one device')

const FACTS: readonly Column<Passkey>[] = [
  {
    title: 'Passkey',
    className: 'wrap-anywhere',
    cell: (passkey) => (
      <>
        <b>{passkey.name}</b>
        <span className="under">{keptOf(passkey)}</span>
      </>
    ),
  },
  { title: 'Kept', className: 'wide-only', cell: keptOf },
  {
    title: 'Made',
    className: 'wide-only',
    cell: ({ created_at }) => <When at={created_at} />,
  },
  {
    title: 'Last used',
    className: 'wide-only',
    cell: ({ last_used_at }) => <WhenOrNever at={last_used_at} />,
  },
]
