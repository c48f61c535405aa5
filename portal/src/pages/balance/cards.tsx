// The cards of the account, the newest first, each with its removal; those whose page was left open too.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { read } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { againWhileOnItsWay } from '#console/funds/on-its-way.ts'
import { paymentsChanged } from '#console/funds/payments-changed.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { actions, Table, type Column } from '#console/parts/page/table.tsx'
import { When } from '#console/parts/time/when.tsx'

type Card = ReplyOf<'GET /v1/payment-methods'>['data'][number]

/** The processor tells the label with the card. */
const nameOf = ({ label }: Card): string => (label === '' ? 'A card not given yet' : label)

const COLUMNS: readonly Column<Card>[] = [
  {
    title: 'Card',
    className: 'wrap-anywhere',
    cell: (card) => (
      <>
        {nameOf(card)} <span className="muted">{card.processor}</span>
        <span className="under">
          <When at={card.created_at} />
        </span>
      </>
    ),
  },
  {
    title: 'State',
    cell: ({ status }) =>
      status === 'active' ? (
        <StateWord tone="ok" word="pays" />
      ) : (
        <StateWord tone="warn" word="waits for you" />
      ),
  },
  { title: 'Added', className: 'wide-only', cell: ({ created_at }) => <When at={created_at} /> },
]

/** Nothing where the account has no card. */
export function Cards() {
  const { data } = useQuery({
    ...read('GET /v1/payment-methods', {}),
    refetchInterval: againWhileOnItsWay,
  })
  const [removed, setRemoved] = useState<Card>()
  if (data === undefined || data.data.length === 0) return null
  const button = actions<Card>((card) => (
    <button type="button" className="btn small" onClick={() => setRemoved(card)}>
      Remove
    </button>
  ))
  return (
    <Section title="Cards">
      <Table rows={data.data} keyOf={({ id }) => id} columns={[...COLUMNS, button]} />
      {removed !== undefined && (
        <Confirm
          title={`Remove: ${nameOf(removed)}`}
          verb="Remove it"
          onClose={() => setRemoved(undefined)}
          act={() => remove(removed.id)}
        >
          The processor forgets it too, and a page that waits for it is closed. Payments that are
          under way go on; automatic top-ups take the newest card that is left.
        </Confirm>
      )}
    </Section>
  )
}

async function remove(method: string): Promise<void> {
  await withTouch(() => call('DELETE /v1/payment-methods/:method', { path: { method } }))
  await paymentsChanged()
}
