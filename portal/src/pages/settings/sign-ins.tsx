// Where the member is signed in. The browser's own words are text.
import { useQuery } from '@tanstack/react-query'
import { call } from '#console/client/call.ts'
import { memberChanged } from '#console/client/entered.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { changed, queryClient, read } from '#console/client/queries.ts'
import { Loaded, ProblemNote } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { actions, Table, type Column } from '#console/parts/page/table.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { When } from '#console/parts/time/when.tsx'
import { browserOf } from './browser-of.ts'

type SignIn = ReplyOf<'GET /v1/sessions'>['data'][number]

const COLUMNS: readonly Column<SignIn>[] = [
  {
    title: 'Browser',
    className: 'wrap-anywhere',
    cell: ({ client, current, created_at }) => (
      <>
        {current && <b>This one </b>}
        <span className="small" title={client}>
          {browserOf(client)}
        </span>
        <span className="under">
          <When at={created_at} />
        </span>
      </>
    ),
  },
  { title: 'Since', className: 'wide-only', cell: ({ created_at }) => <When at={created_at} /> },
  {
    title: 'Ends without use',
    className: 'wide-only',
    cell: ({ expires_at }) => <When at={expires_at} />,
  },
  actions((one) => <End one={one} />),
]

export function SignIns() {
  const query = useQuery(read('GET /v1/sessions', {}))
  return (
    <Section title="Sign-ins">
      <Loaded query={query} what="the list of sign-ins">
        {({ data }) => <Table rows={data} keyOf={({ id }) => id} columns={COLUMNS} />}
      </Loaded>
    </Section>
  )
}

function End({ one: { id, current } }: { readonly one: SignIn }) {
  const end = useAction(async () => {
    if (current) {
      await call('DELETE /v1/session', {})
      queryClient.clear()
      memberChanged('/')
    } else {
      await call('DELETE /v1/sessions/:session', { path: { session: id } })
      await changed('GET /v1/sessions')
    }
  })
  return (
    <>
      {end.error !== undefined && <ProblemNote error={end.error} />}
      <button type="button" className="btn small" disabled={end.isBusy} onClick={end.run}>
        {current ? 'Sign out' : 'End it'}
      </button>
    </>
  )
}
