// The filters of the ledger. Each is a part of the address.
import { useState } from 'react'
import { send } from '#console/client/call.ts'
import { SERVICES, serviceName } from '#console/parts/services.ts'
import { saveAs } from '#console/parts/save.ts'
import { queryOf, useFilters, type Filters } from './use-ledger.ts'

const CSV_PAGES_MAX = 200

export function FilterBar() {
  const { filters, change } = useFilters()
  return (
    <form
      className="filters"
      key={filters.id}
      onSubmit={(event) => {
        event.preventDefault()
        const id = String(new FormData(event.currentTarget).get('id')).trim()
        change({ id: id === '' ? undefined : id })
      }}
    >
      <input
        className="field"
        name="id"
        type="search"
        aria-label="Find a charge"
        placeholder="Receipt, request, payment"
        defaultValue={filters.id ?? ''}
      />
      <select
        className="field"
        aria-label="Time"
        value={filters.since ?? 'today'}
        onChange={({ target: { value } }) =>
          change({ since: value === 'today' ? undefined : (value as 'week' | 'all') })
        }
      >
        <option value="today">Today</option>
        <option value="week">7 days</option>
        <option value="all">All</option>
      </select>
      <select
        className="field"
        aria-label="Service"
        value={filters.service ?? ''}
        onChange={({ target: { value } }) => change({ service: value === '' ? undefined : value })}
      >
        <option value="">All services</option>
        {SERVICES.filter((service) => service !== 'other').map((service) => (
          <option key={service} value={service}>
            {serviceName(service)}
          </option>
        ))}
      </select>
      <CsvButton filters={filters} />
    </form>
  )
}

function CsvButton({ filters }: { readonly filters: Filters }) {
  const [state, setState] = useState<'idle' | 'reading' | 'failed'>('idle')
  const save = async () => {
    setState('reading')
    try {
      saveAs('ledger.csv', 'text/csv', await readCsv(filters))
      setState('idle')
    } catch {
      setState('failed')
    }
  }
  return (
    <button
      type="button"
      className="btn small"
      disabled={state === 'reading'}
      onClick={() => void save()}
    >
      {{ idle: 'CSV', reading: 'Reading', failed: 'CSV failed: again' }[state]}
    </button>
  )
}

/** All pages; each has the head, which only the first keeps. */
async function readCsv(filters: Filters): Promise<string> {
  const parts: string[] = []
  let cursor: string | null = null
  do {
    const query = {
      ...queryOf(filters, new Date()),
      limit: '1000',
      ...(cursor !== null && { cursor }),
    }
    const answer: Response = await send('GET /v1/ledger', { query }, { accept: 'text/csv' })
    const text = await answer.text()
    parts.push(parts.length === 0 ? text : text.slice(text.indexOf('\n') + 1))
    cursor = answer.headers.get('x-next-cursor')
  } while (cursor !== null && parts.length < CSV_PAGES_MAX)
  return parts.join('')
}
