// One thing to do next, at a time. "Not now" is for ever.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Session } from '#console/client/operations.ts'
import { read } from '#console/client/queries.ts'
import { useLive } from '#console/live/use-live.ts'
import { Section } from '#console/parts/page/section.tsx'
import { declined } from './declined.ts'
import { nextStep } from './next-step.ts'

export function Next() {
  const { data: session } = useQuery(read('GET /v1/session', {}))
  return session === undefined ? <div /> : <Offer session={session} />
}

function Offer({ session }: { readonly session: Session }) {
  const { account_id: account, passkeys_count: passkeys } = session
  const hasBudget = useLive(({ budgets }) => budgets.size > 0)
  const hasWebhook = useLive(({ webhooks }) => webhooks.size > 0)
  const [gone, setGone] = useState(() => declined.of(account))
  const step = nextStep({ passkeys, hasBudget, hasWebhook }, gone)
  if (step === undefined) return <div />
  const decline = () => {
    declined.add(account, step.id)
    setGone(declined.of(account))
  }
  return (
    <Section
      title="Next"
      aside={
        <button type="button" className="linked" onClick={decline}>
          not now
        </button>
      }
    >
      <p className="small">
        {step.before} <Link to={step.to}>{step.link}</Link> {step.after}
      </p>
    </Section>
  )
}
