// All webhooks: whether they arrive, and the last failure.
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { rowsOf } from '../../client/queries.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { StateWord } from '../../parts/state-word.tsx'
import { When } from '../../parts/when.tsx'
import { Head } from '../../shell/head.tsx'
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
            <Table webhooks={webhooks} />
          )
        }
      </Loaded>
    </>
  )
}

const Table = ({ webhooks }: { readonly webhooks: readonly Webhook[] }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Webhook</th>
        <th scope="col">State</th>
        <th scope="col" className="num wide-only">
          Waiting
        </th>
        <th scope="col" className="wide-only">
          Last delivered
        </th>
        <th scope="col" className="wide-only">
          Last failure
        </th>
      </tr>
    </thead>
    <tbody>
      {webhooks.map((webhook) => (
        <Row key={webhook.id} webhook={webhook} />
      ))}
    </tbody>
  </table>
)

function Row({ webhook }: { readonly webhook: Webhook }) {
  const { id, url, pending, last_success_at, last_failure_at, last_error } = webhook
  return (
    <tr data-row>
      <td className="wrap-anywhere">
        <Link to={`/webhooks/${id}`}>
          <b>{webhookName(webhook)}</b>
        </Link>
        <span className="tiny url">{url}</span>
      </td>
      <td>
        <StateWord {...stateOf(webhook)} />
      </td>
      <td className="num wide-only">{pending}</td>
      <td className="wide-only">
        {last_success_at === null ? 'never' : <When at={last_success_at} />}
      </td>
      <td className="wide-only wrap-anywhere">
        {last_failure_at === null ? (
          'never'
        ) : (
          <>
            <When at={last_failure_at} />
            <span className="tiny url">{last_error}</span>
          </>
        )}
      </td>
    </tr>
  )
}
