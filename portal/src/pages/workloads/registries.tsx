// The passwords by which images are pulled: of which registry, whose, since when; set and forget.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { changed, read } from '#console/client/queries.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { actions, Table, type Column } from '#console/parts/page/table.tsx'
import { When } from '#console/parts/time/when.tsx'
import { RegistryPassword } from './registry-password.tsx'

type Registry = ReplyOf<'GET /v1/registries'>['data'][number]
type Doing =
  | { readonly what: 'add' }
  | { readonly what: 'set' | 'forget'; readonly registry: Registry }

export function Registries() {
  const query = useQuery(read('GET /v1/registries', {}))
  const [doing, setDoing] = useState<Doing>()
  const stop = () => setDoing(undefined)
  return (
    <Section title="Passwords of registries" aside="for the pulls of this account">
      <Loaded query={query} what="the list of registries">
        {({ data }) =>
          data.length === 0 ? (
            <p className="small">
              None is kept: images are pulled without a password, or with that of the operator.
            </p>
          ) : (
            <Table rows={data} keyOf={(one) => one.registry} columns={columnsOf(setDoing)} />
          )
        }
      </Loaded>
      <div className="tools after">
        <button type="button" className="btn" onClick={() => setDoing({ what: 'add' })}>
          Add a password
        </button>
      </div>
      {doing?.what === 'add' && <RegistryPassword onClose={stop} />}
      {doing?.what === 'set' && <RegistryPassword known={doing.registry} onClose={stop} />}
      {doing?.what === 'forget' && (
        <Confirm
          title={`Forget the password of ${doing.registry.registry}`}
          verb="Forget it"
          onClose={stop}
          act={() => forget(doing.registry)}
        >
          Images of {doing.registry.registry} are pulled without it from now on. Images that were
          pulled stay.
        </Confirm>
      )}
    </Section>
  )
}

async function forget({ registry }: Registry): Promise<void> {
  await call('DELETE /v1/registries/:registry', { path: { registry } })
  await changed('GET /v1/registries')
}

const columnsOf = (setDoing: (doing: Doing) => void): readonly Column<Registry>[] => [
  {
    title: 'Registry',
    className: 'wrap-anywhere',
    cell: ({ registry, username, updated_at }) => (
      <>
        <b>{registry}</b>
        <span className="under">
          {username}, set <When at={updated_at} />
        </span>
      </>
    ),
  },
  { title: 'User', className: 'wide-only wrap-anywhere', cell: ({ username }) => username },
  {
    title: 'Password set',
    className: 'wide-only',
    cell: ({ updated_at }) => <When at={updated_at} />,
  },
  actions((registry) => (
    <>
      <button
        type="button"
        className="btn small"
        onClick={() => setDoing({ what: 'set', registry })}
      >
        Set anew
      </button>
      <button
        type="button"
        className="btn small danger"
        onClick={() => setDoing({ what: 'forget', registry })}
      >
        Forget
      </button>
    </>
  )),
]
