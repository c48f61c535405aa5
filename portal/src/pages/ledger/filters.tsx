// The filters of the ledger. Each is a part of the address.
import { useState } from 'react'
import { send } from '#console/client/call.ts'
import { SERVICES, serviceName } from '#console/parts/charts/services.ts'
import { saveAs } from '#console/parts/browser/save.ts'
import { CSV_PAGE, CSV_PAGES_MAX, readCsv, type CsvPage, type CsvQuery } from './csv.ts'
import { queryOf, useFilters, type Filters } from './use-ledger.ts'

const WORDS = {
  idle: 'CSV',
  reading: 'Reading',
  failed: 'CSV failed: again',
  long: `More than ${(CSV_PAGES_MAX * CSV_PAGE).toLocaleString('en')} rows: choose less`,
}

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
  const [state, setState] = useState<'idle' | 'reading' | 'failed' | 'long'>('idle')
  const save = async () => {
    setState('reading')
    try {
      const csv = await readCsv(queryOf(filters, new Date()), pageOfCsv)
      if (csv !== undefined) saveAs('ledger.csv', 'text/csv', csv)
      setState(csv === undefined ? 'long' : 'idle')
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
      {WORDS[state]}
    </button>
  )
}

async function pageOfCsv(query: CsvQuery): Promise<CsvPage> {
  const answer = await send('GET /v1/ledger', { query }, { accept: 'text/csv' })
  return { text: await answer.text(), next: answer.headers.get('x-next-cursor') }
}
