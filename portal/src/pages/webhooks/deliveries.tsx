// The deliveries of a webhook, the newest first. A row opens into its attempts and the answer of the receiver.
import { useRouter, useSearch } from '@tanstack/react-router'
import { rowsOf } from '../../client/queries.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { Section } from '../../parts/section.tsx'
import { StateWord } from '../../parts/state-word.tsx'
import { When } from '../../parts/when.tsx'
import { useZone } from '../../parts/zone.ts'
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
            <Table rows={rows} opened={search.delivery} onOpen={(delivery) => go({ delivery })} />
          )
        }
      </Loaded>
      {query.hasNextPage && (
        <button type="button" className="btn small" onClick={() => void query.fetchNextPage()}>
          Older deliveries
        </button>
      )}
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
  readonly rows: readonly Delivery[]
  readonly opened: string | undefined
  /** Empty: none. */
  readonly onOpen: (delivery: string) => void
}

function Table({ rows, opened, onOpen }: TableProps) {
  const zone = useZone()
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">State</th>
          <th scope="col" className="num wide-only">
            Attempts
          </th>
          <th scope="col" className="num wide-only">
            Answer
          </th>
          <th scope="col" className="wide-only">
            {zone === 'UTC' ? 'UTC' : 'Local time'}
          </th>
        </tr>
      </thead>
      {rows.map((delivery) => (
        <DeliveryRows
          key={delivery.id}
          delivery={delivery}
          isOpen={opened === delivery.id}
          onOpen={(isOpen) => onOpen(isOpen ? delivery.id : '')}
        />
      ))}
    </table>
  )
}

function DeliveryRows(props: {
  readonly delivery: Delivery
  readonly isOpen: boolean
  readonly onOpen: (isOpen: boolean) => void
}) {
  const { delivery, isOpen, onOpen } = props
  const { event, test, attempts, http_status, duration_ms, created_at } = delivery
  return (
    <tbody>
      <tr data-row aria-selected={isOpen}>
        <td>
          <button
            type="button"
            className="linked"
            aria-expanded={isOpen}
            onClick={() => onOpen(!isOpen)}
          >
            {event}
          </button>{' '}
          {test && <span className="muted">test</span>}
          <span className="under">
            <When at={created_at} isExact />
          </span>
        </td>
        <td>
          <StateWord {...deliveryState(delivery)} />
        </td>
        <td className="num wide-only">{attempts}</td>
        <td className="num wide-only">
          {http_status ?? 'none'}
          {duration_ms !== null && <span className="muted"> in {duration_ms} ms</span>}
        </td>
        <td className="wide-only">
          <When at={created_at} isExact />
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={5}>
            <DeliveryStory delivery={delivery} />
          </td>
        </tr>
      )}
    </tbody>
  )
}
