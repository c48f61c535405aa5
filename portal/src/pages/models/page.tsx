// Models: which answer, their tier, and the joules of a thousand tokens of prompt and answer together.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReplyOf } from '#console/client/operations.ts'
import { read } from '#console/client/queries.ts'
import { energyShort } from '#console/figures/energy.ts'
import { Empty } from '#console/parts/page/empty.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { StateWord, type Tone } from '#console/parts/page/state-word.tsx'
import { actions, Table, type Column } from '#console/parts/page/table.tsx'
import { Head } from '#console/shell/head.tsx'

type Model = ReplyOf<'GET /v1/models'>['data'][number]

const TIERS = { L0: 'lookup', L1: 'extraction', L2: 'aggregation', L3: 'reasoning' }
const STATES: Readonly<Record<Model['state'], { readonly tone: Tone; readonly word: string }>> = {
  ready: { tone: 'ok', word: 'answers' },
  loading: { tone: 'muted', word: 'loading' },
  failed: { tone: 'bad', word: 'failed' },
  unreachable: { tone: 'bad', word: 'does not answer' },
  unauthorized: { tone: 'bad', word: 'refuses its key' },
}
const NJ_PER_J = 1e9

export function Page() {
  const query = useQuery(read('GET /v1/models', {}))
  return (
    <>
      <Head title="Models" />
      <Loaded query={query} what="the list of models">
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No model here" command="ergon models add <file.gguf>">
              The operator adds a file, or the address of a server that speaks the chat shape.
            </Empty>
          ) : (
            <Table rows={data} keyOf={({ id }) => id} columns={COLUMNS} />
          )
        }
      </Loaded>
    </>
  )
}

const tierOf = ({ tiers }: Model): string =>
  tiers.map((name) => `${name} ${TIERS[name]}`).join(', ')

const COLUMNS: readonly Column<Model>[] = [
  {
    title: 'Model',
    className: 'wrap-anywhere',
    cell: (model) => (
      <>
        <b>{model.id}</b>{' '}
        <span className="muted">
          {model.alias_of === undefined ? model.owned_by : `is ${model.alias_of}`}
        </span>
        <span className="under">
          {tierOf(model)}, {STATES[model.state].word}
        </span>
      </>
    ),
  },
  { title: 'Tier', className: 'wide-only', cell: tierOf },
  {
    title: 'State',
    className: 'wide-only',
    cell: ({ state }) => <StateWord {...STATES[state]} />,
  },
  { title: 'Tools', className: 'wide-only', cell: ({ tools }) => tools },
  {
    title: 'Context',
    className: 'num wide-only',
    cell: ({ context_length }) => context_length.toLocaleString('en-US'),
  },
  {
    title: (
      <>
        1k tokens<span className="under">read and written</span>
        <span className="wide-only">, read and written</span>
      </>
    ),
    className: 'num',
    cell: ({ energy_j_per_1k_tokens: energy }) => (
      <span title={`95 of 100 took at most ${njText(energy.p95)}`}>
        {njText(energy.p50)}
        <span className="under">{measuredWords(energy.samples)}</span>
        <span className="muted wide-only"> {measuredWords(energy.samples)}</span>
      </span>
    ),
  },
  actions(
    ({ id, modalities, state }) =>
      modalities.includes('text') &&
      state === 'ready' && (
        <Link className="btn small" to="/playground" search={{ model: id } as never}>
          Try it
        </Link>
      ),
  ),
]

const njText = (joules: number): string => energyShort(BigInt(Math.round(joules * NJ_PER_J)))

/** Without an answer yet the figure is the estimate of its kind. */
const measuredWords = (samples: number): string =>
  samples === 0 ? 'estimated' : `from ${samples} answer${samples === 1 ? '' : 's'}`
