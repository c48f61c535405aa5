// One webhook: does it arrive, what was sent, and what can be done.
import { Link } from '@tanstack/react-router'
import { Facts } from '#console/parts/page/facts.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { When } from '#console/parts/time/when.tsx'
import { Head } from '#console/shell/head.tsx'
import { Actions } from './actions.tsx'
import { Deliveries } from './deliveries.tsx'
import { useWebhook } from './use-webhooks.ts'
import { stateOf, webhookName, type Webhook } from './webhook.ts'

export function Detail({ id }: { readonly id: string }) {
  const query = useWebhook(id)
  const webhook = query.data
  return (
    <>
      <Head
        title={webhook === undefined ? 'Webhook' : webhookName(webhook)}
        crumb={
          <>
            <Link to="/webhooks">Webhooks</Link>
            {webhook !== undefined && <span className="wrap-anywhere"> / {webhook.url}</span>}
          </>
        }
      >
        {webhook !== undefined && <StateWord {...stateOf(webhook)} />}
      </Head>
      <Loaded query={query} what="the webhook">
        {(found) => (
          <div className="stack wide">
            <Trouble webhook={found} />
            <WebhookFacts webhook={found} />
            <Deliveries webhook={found} />
            <Actions webhook={found} />
          </div>
        )}
      </Loaded>
    </>
  )
}

function Trouble({ webhook }: { readonly webhook: Webhook }) {
  const { status, reason, failures, last_error } = webhook
  if (status === 'paused')
    return (
      <div className="note warn">
        <p>
          <b>Paused. </b>Nothing is sent; deliveries wait. Resume it below.
        </p>
      </div>
    )
  if (status === 'disabled')
    return (
      <div className="note bad">
        <p>
          <b>Disabled: {reason}. </b>Mend the receiver, then resume it below and replay what it
          missed.
        </p>
      </div>
    )
  return failures === 0 ? null : (
    <div className="note bad">
      <p className="wrap-anywhere">
        <b>The last attempt failed: {last_error}. </b>It is tried again by itself, ten times within
        76 hours.
      </p>
    </div>
  )
}

function WebhookFacts({ webhook }: { readonly webhook: Webhook }) {
  const { failures, pending, events, last_success_at, last_failure_at } = webhook
  const { previous_secret_until, created_at } = webhook
  return (
    <Facts
      facts={[
        [
          'Last delivered',
          last_success_at === null ? 'never' : <When key="success" at={last_success_at} />,
          `${pending} waiting`,
        ],
        [
          'Last failure',
          last_failure_at === null ? 'never' : <When key="failure" at={last_failure_at} />,
          failures === 0 ? 'none since the last success' : `${failures} since the last success`,
        ],
        ['Events', events.length, events.slice(0, 3).join(', ')],
        [
          'Made',
          <When key="made" at={created_at} />,
          previous_secret_until === null ? (
            'its secret signs each request'
          ) : (
            <>
              the old one signs too until <When at={previous_secret_until} isExact />
            </>
          ),
        ],
      ]}
    />
  )
}
