// Models: which answer, their tier, and the joules of a thousand tokens.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReplyOf } from '../../client/operations.ts'
import { read } from '../../client/queries.ts'
import { energyShort } from '../../figures/energy.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { StateWord, type Tone } from '../../parts/state-word.tsx'
import { Head } from '../../shell/head.tsx'

type Model = ReplyOf<'GET /v1/models'>['data'][number]

const TIERS = { L0: 'lookup', L1: 'extraction', L2: 'aggregation', L3: 'reasoning' }
const STATES: Readonly<Record<Model['state'], readonly [Tone, string]>> = {
  ready: ['ok', 'answers'],
  loading: ['muted', 'loading'],
  failed: ['bad', 'failed'],
  unreachable: ['bad', 'does not answer'],
  unauthorized: ['bad', 'refuses its key'],
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
            <Table models={data} />
          )
        }
      </Loaded>
    </>
  )
}

const Table = ({ models }: { readonly models: readonly Model[] }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Model</th>
        <th scope="col" className="wide-only">
          Tier
        </th>
        <th scope="col" className="wide-only">
          State
        </th>
        <th scope="col" className="wide-only">
          Tools
        </th>
        <th scope="col" className="num wide-only">
          Context
        </th>
        <th scope="col" className="num">
          1k tokens
        </th>
        <th scope="col">
          <span className="spoken">Actions</span>
        </th>
      </tr>
    </thead>
    <tbody>
      {models.map((model) => (
        <ModelRow key={model.id} model={model} />
      ))}
    </tbody>
  </table>
)

function ModelRow({ model }: { readonly model: Model }) {
  const { id, tiers, state, energy_j_per_1k_tokens: energy, alias_of: alias } = model
  const [tone, word] = STATES[state]
  const tier = tiers.map((name) => `${name} ${TIERS[name]}`).join(', ')
  return (
    <tr data-row>
      <td className="wrap-anywhere">
        <b>{id}</b>{' '}
        <span className="muted">{alias === undefined ? model.owned_by : `is ${alias}`}</span>
        <span className="under">
          {tier}, {word}
        </span>
      </td>
      <td className="wide-only">{tier}</td>
      <td className="wide-only">
        <StateWord tone={tone} word={word} />
      </td>
      <td className="wide-only">{model.tools}</td>
      <td className="num wide-only">{model.context_length.toLocaleString('en-US')}</td>
      <td className="num" title={`95 of 100 took at most ${njText(energy.p95)}`}>
        {njText(energy.p50)}
        <span className="under">{measuredWords(energy.samples)}</span>
        <span className="muted wide-only"> {measuredWords(energy.samples)}</span>
      </td>
      <td>
        {model.modalities.includes('text') && state === 'ready' && (
          <div className="tools">
            <Link className="btn small" to="/playground" search={{ model: id } as never}>
              Try it
            </Link>
          </div>
        )}
      </td>
    </tr>
  )
}

const njText = (joules: number): string => energyShort(BigInt(Math.round(joules * NJ_PER_J)))

/** Without an answer yet the figure is the estimate of its kind. */
const measuredWords = (samples: number): string =>
  samples === 0 ? 'estimated' : `of ${samples} answer${samples === 1 ? '' : 's'}`
