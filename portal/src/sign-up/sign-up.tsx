// Sign-up: one page, five steps, each saved. The first makes the passkey; a link with a code begins here too.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { isProblem } from '#console/client/problem.ts'
import { read } from '#console/client/queries.ts'
import { SignOut } from '#console/shell/sign-out.tsx'
import { Logo } from '#console/parts/page/icons.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Account } from './account.tsx'
import { Ask } from './ask.tsx'
import { Codes } from './codes.tsx'
import { Funds } from './funds.tsx'
import { invitationIn, savedStep, saveStep, stepNow, stepsOf, type Step } from './progress.ts'
import { FirstToken } from './first-token.tsx'
import './sign-up.css'

export function SignUp() {
  const session = useQuery(read('GET /v1/session', {}))
  const isOut = isProblem(session.error) && session.error.status === 401
  const [step, setStep] = useState<Step>(savedStep)
  const [token, setToken] = useState<string>()
  useEffect(() => {
    document.title = 'Sign up · Ergon'
    // A link with a code that is opened on this very page changes what is behind the # alone.
    const begin = () => location.reload()
    addEventListener('hashchange', begin)
    return () => removeEventListener('hashchange', begin)
  }, [])
  const go = (next: Step) => {
    saveStep(next)
    setStep(next)
  }
  const steps = stepsOf(session.data?.member.role)
  const known = isOut || invitationIn(location.hash) === undefined ? undefined : session.data
  const current = isOut ? 'account' : session.data && stepNow(step, steps)
  // Also for one who comes back to this address later.
  const isDone = current === 'done'
  useEffect(() => {
    if (isDone && known === undefined) location.replace('/')
  }, [isDone, known])
  const after = (one: Step) => go(steps[steps.indexOf(one) + 1] ?? 'done')
  return (
    <main className="signing-up" id="main">
      <a className="brand" href="/">
        <Logo />
        ergon
      </a>
      {known !== undefined ? (
        <SignedIn name={known.member.name} />
      ) : (
        <section className="plate" aria-live="polite">
          {!isDone && (
            <p className="small muted">
              {steps.indexOf(current ?? 'account') + 1} of {steps.length}
            </p>
          )}
          {current === undefined && (
            <Loaded query={session} what="your sign-in">
              {() => null}
            </Loaded>
          )}
          {current === 'account' && <Account onDone={go} />}
          {current === 'codes' && <Codes onDone={() => after('codes')} />}
          {current === 'funds' && <Funds onDone={() => after('funds')} />}
          {current === 'token' && (
            <FirstToken token={token} onMade={setToken} onDone={() => after('token')} />
          )}
          {current === 'ask' && <Ask token={token} onDone={() => after('ask')} />}
        </section>
      )}
    </main>
  )
}

/** A link with a code lets in one whom the browser does not know: the member who is signed in says first that it may. */
const SignedIn = ({ name }: { readonly name: string }) => (
  <section className="plate">
    <h1>A link for one person</h1>
    <p className="small">
      You are signed in as <b>{name}</b>. Sign out to use this link.
    </p>
    <SignOut stays />
    <p className="small">
      <a href="/">Stay signed in</a>
    </p>
  </section>
)
