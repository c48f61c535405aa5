// Sign-up: one page, five steps, each saved. The first makes the passkey; a link with a code begins here too.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { isProblem } from '../client/problem.ts'
import { read } from '../client/queries.ts'
import { Logo } from '../parts/icons.tsx'
import { Account } from './account.tsx'
import { Ask } from './ask.tsx'
import { Codes } from './codes.tsx'
import { Funds } from './funds.tsx'
import { savedStep, saveStep, STEPS, type Step } from './progress.ts'
import { FirstToken } from './first-token.tsx'
import './sign-up.css'

const SHOWN = STEPS.length - 1

export function SignUp() {
  const session = useQuery(read('GET /v1/session', {}))
  const isOut = isProblem(session.error) && session.error.status === 401
  const [step, setStep] = useState<Step>(savedStep)
  const [token, setToken] = useState<string>()
  useEffect(() => {
    document.title = 'Sign up · Ergon'
  }, [])
  const go = (next: Step) => {
    saveStep(next)
    setStep(next)
    if (next === 'done') location.assign('/')
  }
  const current = isOut ? 'account' : step === 'account' ? 'funds' : step
  return (
    <main className="signing-up" id="main">
      <a className="brand" href="/">
        <Logo />
        ergon
      </a>
      <section className="plate" aria-live="polite">
        <p className="small muted">
          {Math.min(STEPS.indexOf(current) + 1, SHOWN)} of {SHOWN}
        </p>
        {current === 'account' && <Account onDone={go} />}
        {current === 'codes' && <Codes onDone={() => go('funds')} />}
        {current === 'funds' && <Funds onDone={() => go('token')} />}
        {current === 'token' && (
          <FirstToken token={token} onMade={setToken} onDone={() => go('ask')} />
        )}
        {current === 'ask' && <Ask token={token} onDone={() => go('done')} />}
      </section>
    </main>
  )
}
