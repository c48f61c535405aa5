// The deliveries of a webhook, the newest first. A row opens into its attempts and the answer of the receiver.
import { useRouter, useSearch } from '@tanstack/react-router'
import { rowsOf } from '#console/client/queries.ts'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { MoreRows } from '#console/parts/page/more-rows.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { TimeHead, When } from '#console/parts/time/when.tsx'
import { DeliveryStory } from './delivery-story.tsx'
import { useDeliveries, type Filter } from './use-webhooks.ts'
import { deliveryState, type Delivery, type Webhook } from './webhook.ts'

const FILTERS: readonly (readonly [Filter | '', string])[] = [
  ['', 'All deliveries'],
  ['delivered', 'Delivered'],
  ['pending', 'Waiting or tried again'],
  ['dead', 'Given up'],
]
type Search = { readonly status?: Filter; readonly delivery?: string }

export function Deliveries({ webhook }: { readonly webhook: Webhook }) {
  const search = useSearch({ strict: false }) as Search
  const router = useRouter()
  const query = useDeliveries(webhook.id, search.status)
  const rows = rowsOf(query.data)
  const go = (change: Search) =>
    void router.navigate({
      to: `/webhooks/${webhook.id}`,
      search: { ...search, ...change } as never,
      replace: true,
      resetScroll: false,
    })
  return (
    <Section
      title="Deliveries"
      aside={<Filters status={search.status} onChange={(status) => go({ status })} />}
    >
      <Loaded query={query} what="the list of deliveries">
        {() =>
          rows.length === 0 ? (
            <p className="small">
              {search.status
                ? 'No delivery is in this state.'
                : 'Nothing was sent yet: send a test below.'}
            </p>
          ) : (
            <DeliveryTable
              webhook={webhook}
              rows={rows}
              opened={search.delivery}
              onOpen={(delivery) => go({ delivery })}
            />
          )
        }
      </Loaded>
      <MoreRows query={query} label="Older deliveries" />
    </Section>
  )
}

type FiltersProps = {
  readonly status: Filter | undefined
  readonly onChange: (status: Filter) => void
}

const Filters = ({ status, onChange }: FiltersProps) => (
  <select
    className="field slim"
    aria-label="State"
    value={status ?? ''}
    onChange={({ target: { value } }) => onChange(value as Filter)}
  >
    {FILTERS.map(([value, words]) => (
      <option key={value} value={value}>
        {words}
      </option>
    ))}
  </select>
)

type TableProps = {
  readonly webhook: Webhook
  readonly rows: readonly Delivery[]
  readonly opened: string | undefined
  /** Empty: none. */
  readonly onOpen: (delivery: string) => void
}

function DeliveryTable({ webhook, rows, opened, onOpen }: TableProps) {
  const isOpen = ({ id }: Delivery) => id === opened
  const event: Column<Delivery> = {
    title: 'Event',
    cell: (delivery) => (
      <>
        <button
          type="button"
          className="linked"
          aria-expanded={isOpen(delivery)}
          onClick={() => onOpen(isOpen(delivery) ? '' : delivery.id)}
        >
          {delivery.event}
        </button>{' '}
        {delivery.test && <span className="muted">test</span>}
        <span className="under">
          <When at={delivery.created_at} isExact />
        </span>
      </>
    ),
  }
  const state: Column<Delivery> = {
    title: 'State',
    cell: (delivery) => <StateWord {...deliveryState(delivery, webhook)} />,
  }
  return (
    <Table
      rows={rows}
      keyOf={({ id }) => id}
      columns={[event, state, ...FACTS]}
      isSelected={isOpen}
      below={(delivery) =>
        isOpen(delivery) ? <DeliveryStory delivery={delivery} webhook={webhook} /> : undefined
      }
    />
  )
}

const FACTS: readonly Column<Delivery>[] = [
  { title: 'Attempts', className: 'num wide-only', cell: ({ attempts }) => attempts },
  {
    title: 'Answer',
    className: 'num wide-only',
    cell: ({ http_status, duration_ms }) => (
      <>
        {http_status ?? 'none'}
        {duration_ms !== null && <span className="muted"> in {duration_ms} ms</span>}
      </>
    ),
  },
  {
    title: <TimeHead />,
    className: 'wide-only',
    cell: ({ created_at }) => <When at={created_at} inColumn />,
  },
]
