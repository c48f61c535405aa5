// The models: whether each is ready, and the cells that run them.
import { useQuery } from '@tanstack/react-query'
import type { ReplyOf } from '../../client/operations.ts'
import { read } from '../../client/queries.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Section } from '../../parts/section.tsx'
import { StateWord, type Tone } from '../../parts/state-word.tsx'
import { CellTable } from './cells.tsx'
import { WithNode } from './with-node.tsx'

type Model = ReplyOf<'GET /v1/models'>['data'][number]
const STATES: Readonly<Record<Model['state'], readonly [Tone, string]>> = {
  ready: ['ok', 'Ready'],
  loading: ['muted', 'Loads'],
  failed: ['bad', 'Failed'],
  unreachable: ['bad', 'Does not answer'],
  unauthorized: ['bad', 'Refuses the key'],
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
              <ModelTable models={data} />
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

const ModelTable = ({ models }: { readonly models: readonly Model[] }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Model</th>
        <th scope="col">State</th>
        <th scope="col" className="num">
          J per 1,000 tokens
        </th>
        <th scope="col" className="wide-only">
          Served by
        </th>
      </tr>
    </thead>
    <tbody>
      {models.map(({ id, state, energy_j_per_1k_tokens: energy, routed_to, alias_of }) => {
        const [tone, word] = STATES[state]
        return (
          <tr key={id}>
            <td className="wrap-anywhere">
              <b>{id}</b>
            </td>
            <td>
              <StateWord tone={tone} word={word} />
            </td>
            <td className="num">{energy.p50.toPrecision(3)}</td>
            <td className="wide-only wrap-anywhere">{alias_of ?? routed_to}</td>
          </tr>
        )
      })}
    </tbody>
  </table>
)
