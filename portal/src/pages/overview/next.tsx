// One thing to do next, at a time. "Not now" is for ever.
import type { Session } from '#console/client/operations.ts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { read } from '#console/client/queries.ts'
import { useLive } from '#console/live/use-live.ts'
import { Section } from '#console/parts/section.tsx'

const DECLINED = 'ergon.declined'

type Known = { readonly session: Session; readonly hasBudget: boolean }
type Step = {
  readonly id: string
  readonly isDue: (known: Known) => boolean
  readonly before: string
  readonly to: string
  readonly link: string
  readonly after: string
}
const STEPS: readonly Step[] = [
  {
    id: 'second-passkey',
    isDue: ({ session }) => session.passkeys_count < 2,
    before: 'You have one passkey.',
    to: '/settings',
    link: 'Add a second one',
    after: 'so that a lost phone does not lock you out.',
  },
  {
    id: 'budget',
    isDue: ({ hasBudget }) => !hasBudget,
    before: 'Nothing of yours has a limit but the balance.',
    to: '/budgets',
    link: 'Set a budget',
    after: 'and it stops there.',
  },
  {
    id: 'low-balance-webhook',
    isDue: () => true,
    before: 'A service of yours can be informed when the balance is low.',
    to: '/webhooks',
    link: 'Add a webhook',
    after: '',
  },
]

const declined = (): readonly string[] => (localStorage.getItem(DECLINED) ?? '').split(' ')

export function Next() {
  const session = useQuery(read('GET /v1/session', {}))
  const hasBudget = useLive(({ budgets }) => budgets.size > 0)
  const [gone, setGone] = useState(declined)
  if (session.data === undefined) return <div />
  const known = { session: session.data, hasBudget }
  const step = STEPS.find(({ id, isDue }) => isDue(known) && !gone.includes(id))
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
