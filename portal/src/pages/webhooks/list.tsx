// All webhooks: whether they arrive, and the last failure.
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { rowsOf } from '#console/client/queries.ts'
import { Empty } from '#console/parts/page/empty.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { WhenOrNever } from '#console/parts/time/when.tsx'
import { Head } from '#console/shell/head.tsx'
import { NewWebhook } from './new-webhook.tsx'
import { useWebhooks } from './use-webhooks.ts'
import { stateOf, webhookName, type Webhook } from './webhook.ts'

export function List() {
  const query = useWebhooks()
  const webhooks = rowsOf(query.data)
  const [isMaking, setMaking] = useState(false)
  const make = (
    <button type="button" className="btn primary" onClick={() => setMaking(true)}>
      New webhook
    </button>
  )
  return (
    <>
      <Head title="Webhooks">{webhooks.length > 0 && make}</Head>
      {isMaking && <NewWebhook onClose={() => setMaking(false)} />}
      <Loaded query={query} what="the list of webhooks">
        {() =>
          webhooks.length === 0 ? (
            <Empty
              title="No webhooks yet"
              command="ergon webhook create --url https://example.com/events --events balance.low"
              action={make}
            >
              A webhook tells a service of yours what happens here: a balance that ends, a budget
              that is used up, a new object.
            </Empty>
          ) : (
            <Table rows={webhooks} keyOf={({ id }) => id} columns={COLUMNS} />
          )
        }
      </Loaded>
    </>
  )
}

const COLUMNS: readonly Column<Webhook>[] = [
  {
    title: 'Webhook',
    className: 'wrap-anywhere',
    cell: (webhook) => (
      <>
        <Link to={`/webhooks/${webhook.id}`}>
          <b>{webhookName(webhook)}</b>
        </Link>
        <span className="tiny url">{webhook.url}</span>
      </>
    ),
  },
  { title: 'State', cell: (webhook) => <StateWord {...stateOf(webhook)} /> },
  { title: 'Waiting', className: 'num wide-only', cell: ({ pending }) => pending },
  {
    title: 'Last delivered',
    className: 'wide-only',
    cell: ({ last_success_at }) => <WhenOrNever at={last_success_at} />,
  },
  {
    title: 'Last failure',
    className: 'wide-only wrap-anywhere',
    cell: ({ last_failure_at, last_error }) => (
      <>
        <WhenOrNever at={last_failure_at} />
        {last_failure_at !== null && <span className="tiny url">{last_error}</span>}
      </>
    ),
  },
]
