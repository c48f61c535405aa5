// The approval: who asks, from where, and how much the token may do.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { permits, type Scope } from '#contract/operation.ts'
import { RIGHTS } from '#contract/identity/roles.ts'
import { call } from '#console/client/call.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { changed, read } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { Choices } from '#console/parts/forms/choices.tsx'
import { ProblemNote } from '#console/parts/page/loaded.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { proposedScope, SCOPE_WORDS, SCOPES } from '#console/parts/forms/scopes.ts'

/** The command line waits on this machine alone. */
const WAITING = /^http:\/\/127\.0\.0\.1:\d{4,5}\//

/** `login` is what the login was found by: its id, or the code that was typed. */
export function Approve({
  login,
  asked,
}: {
  readonly login: string
  readonly asked: ReplyOf<'GET /v1/logins/:login'>
}) {
  const [chosen, setChosen] = useState<Scope>()
  const role = useQuery(read('GET /v1/session', {})).data?.member.role ?? 'viewer'
  const greatest = RIGHTS[role].scope
  const proposed = proposedScope(asked.scope, greatest)
  const scope = chosen ?? proposed
  const [isDone, setDone] = useState(false)
  const action = useAction(async () => {
    const { redirect_url: next } = await withTouch(() =>
      call('POST /v1/logins/:login/approve', { path: { login }, body: { scope } }),
    )
    await changed('GET /v1/tokens')
    if (next !== null && WAITING.test(next)) location.assign(next)
    setDone(true)
  })
  if (isDone)
    return (
      <p role="status">
        <b className="ok">{asked.name} is signed in.</b> Go on in the command line. Its token is
        among your tokens, where you can revoke it.
      </p>
    )
  return (
    <div className="login">
      <p>
        <b>{asked.name}</b> at {asked.address} asks for a token of yours. Approve it only if you
        have just run <code>ergon login</code> there, and it shows this code:
      </p>
      <p className="code">{asked.user_code}</p>
      <Choices
        legend="What it may do"
        value={scope}
        options={SCOPES.map((name) => [name, name, SCOPE_WORDS[name].long])}
        onChange={setChosen}
      />
      {asked.scope !== null && !permits(proposed, asked.scope) && (
        <p className="small">
          The command line asks for <b>{asked.scope}</b>:{' '}
          {permits(greatest, asked.scope)
            ? 'choose that yourself if you began this login.'
            : `your role has ${greatest} at most.`}
        </p>
      )}
      {action.error !== undefined && <ProblemNote error={action.error} />}
      <div className="tools">
        <button type="button" className="btn primary" disabled={action.isBusy} onClick={action.run}>
          Approve
        </button>
        <a className="btn" href="/">
          It was not me
        </a>
      </div>
    </div>
  )
}
