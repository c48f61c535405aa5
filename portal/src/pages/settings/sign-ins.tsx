// Where the member is signed in. The browser's own words are text.
import { useQuery } from '@tanstack/react-query'
import { call } from '../../client/call.ts'
import type { ReplyOf } from '../../client/operations.ts'
import { changed, queryClient, read } from '../../client/queries.ts'
import { Loaded, ProblemNote } from '../../parts/loaded.tsx'
import { Section } from '../../parts/section.tsx'
import { useAction } from '../../parts/use-action.ts'
import { When } from '../../parts/when.tsx'

type SignIn = ReplyOf<'GET /v1/sessions'>['data'][number]

export function SignIns() {
  const query = useQuery(read('GET /v1/sessions', {}))
  return (
    <Section title="Sign-ins">
      <Loaded query={query} what="the list of sign-ins">
        {({ data }) => (
          <table>
            <thead>
              <tr>
                <th scope="col">Browser</th>
                <th scope="col" className="wide-only">
                  Since
                </th>
                <th scope="col" className="wide-only">
                  Ends without use
                </th>
                <th scope="col">
                  <span className="spoken">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.map((one) => (
                <Row key={one.id} one={one} />
              ))}
            </tbody>
          </table>
        )}
      </Loaded>
    </Section>
  )
}

function Row({ one }: { readonly one: SignIn }) {
  const { id, client, current, created_at, expires_at } = one
  const end = useAction(async () => {
    if (current) {
      await call('DELETE /v1/session', {})
      queryClient.clear()
      location.assign('/')
    } else {
      await call('DELETE /v1/sessions/:session', { path: { session: id } })
      await changed('GET /v1/sessions')
    }
  })
  return (
    <tr data-row>
      <td className="wrap-anywhere">
        {current && <b>This one </b>}
        <span className="small">{client}</span>
        <span className="under">
          <When at={created_at} />
        </span>
        {end.error !== undefined && <ProblemNote error={end.error} />}
      </td>
      <td className="wide-only">
        <When at={created_at} />
      </td>
      <td className="wide-only">
        <When at={expires_at} />
      </td>
      <td aria-label="Actions">
        <div className="tools">
          <button type="button" className="btn small" disabled={end.isBusy} onClick={end.run}>
            {current ? 'Sign out' : 'End it'}
          </button>
        </div>
      </td>
    </tr>
  )
}
