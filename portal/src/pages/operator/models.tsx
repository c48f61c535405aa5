// The models: whether each is ready, and the cells that run them.
import { useQuery } from '@tanstack/react-query'
import type { ReplyOf } from '#console/client/operations.ts'
import { read } from '#console/client/queries.ts'
import { Empty } from '#console/parts/page/empty.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { StateWord, type Tone } from '#console/parts/page/state-word.tsx'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { CellTable } from './cells.tsx'
import { WithNode } from './with-node.tsx'

type Model = ReplyOf<'GET /v1/models'>['data'][number]
const STATES: Readonly<Record<Model['state'], { readonly tone: Tone; readonly word: string }>> = {
  ready: { tone: 'ok', word: 'Ready' },
  loading: { tone: 'muted', word: 'Loads' },
  failed: { tone: 'bad', word: 'Failed' },
  unreachable: { tone: 'bad', word: 'Does not answer' },
  unauthorized: { tone: 'bad', word: 'Refuses the key' },
}
const MODEL_CELLS = 'model-'

export function Models() {
  const query = useQuery(read('GET /v1/models', {}))
  return (
    <div className="stack wide">
      <Loaded query={query} what="the list of models">
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No models" command="ergon models add ./model.gguf">
              A model answers inference, in a process of its own or at a server of yours.
            </Empty>
          ) : (
            <Section title="Models">
              <Table rows={data} keyOf={({ id }) => id} columns={COLUMNS} />
            </Section>
          )
        }
      </Loaded>
      <WithNode>
        {({ cells }) => {
          const own = cells.filter(({ name }) => name.startsWith(MODEL_CELLS))
          return own.length === 0 ? null : (
            <Section title="Their cells">
              <CellTable cells={own} />
            </Section>
          )
        }}
      </WithNode>
    </div>
  )
}

const COLUMNS: readonly Column<Model>[] = [
  { title: 'Model', className: 'wrap-anywhere', cell: ({ id }) => <b>{id}</b> },
  { title: 'State', cell: ({ state }) => <StateWord {...STATES[state]} /> },
  {
    title: 'J per 1,000 tokens',
    className: 'num',
    cell: ({ energy_j_per_1k_tokens: energy }) => energy.p50.toPrecision(3),
  },
  {
    title: 'Served by',
    className: 'wide-only wrap-anywhere',
    cell: ({ alias_of, routed_to }) => alias_of ?? routed_to,
  },
]
