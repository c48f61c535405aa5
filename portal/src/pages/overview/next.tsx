// One thing to do next, at a time. "Not now" is for ever.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { read } from '#console/client/queries.ts'
import { useLive } from '#console/live/use-live.ts'
import { Section } from '#console/parts/section.tsx'
import { nextStep } from './next-step.ts'

const DECLINED = 'ergon.declined'

const declined = (): readonly string[] => (localStorage.getItem(DECLINED) ?? '').split(' ')

export function Next() {
  const session = useQuery(read('GET /v1/session', {}))
  const hasBudget = useLive(({ budgets }) => budgets.size > 0)
  const hasWebhook = useLive(({ webhooks }) => webhooks.size > 0)
  const [gone, setGone] = useState(declined)
  if (session.data === undefined) return <div />
  const step = nextStep({ passkeys: session.data.passkeys_count, hasBudget, hasWebhook }, gone)
  if (step === undefined) return <div />
  const decline = () => {
    const next = [...gone, step.id]
    localStorage.setItem(DECLINED, next.join(' '))
    setGone(next)
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
