// The cells: every process of the node, with what it uses.
import { bytesShort } from '../../figures/amounts.ts'
import { power } from '../../figures/energy.ts'
import { Section } from '../../parts/section.tsx'
import { StateWord } from '../../parts/state-word.tsx'
import { cellState, njPerS, type CellFacts } from './node.ts'
import { WithNode } from './with-node.tsx'

const NS_PER_S = 1e9

export const Cells = () => (
  <WithNode>
    {({ cells }) => (
      <Section title={`${cells.length} cells`}>
        <CellTable cells={cells} />
      </Section>
    )}
  </WithNode>
)

export const CellTable = ({ cells }: { readonly cells: readonly CellFacts[] }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Cell</th>
        <th scope="col">State</th>
        <th scope="col" className="num">
          Watts
        </th>
        <th scope="col" className="num wide-only">
          CPU
        </th>
        <th scope="col" className="num wide-only">
          Memory
        </th>
        <th scope="col" className="num wide-only">
          Restarts
        </th>
        <th scope="col" className="wide-only">
          Paid by
        </th>
      </tr>
    </thead>
    <tbody>
      {cells.map((cell) => (
        <Row key={cell.name} cell={cell} />
      ))}
    </tbody>
  </table>
)

function Row({ cell }: { readonly cell: CellFacts }) {
  const { name, pid, watts, cpu_ns, memory_bytes, restarts, payer } = cell
  const memory = memory_bytes === null ? 'none' : bytesShort(BigInt(memory_bytes))
  return (
    <tr>
      <td className="wrap-anywhere">
        <b>{name}</b>
        <span className="under">
          {memory}, {restarts} restarts
        </span>
      </td>
      <td>
        <StateWord {...cellState(cell)} />
      </td>
      <td className="num">{power(njPerS(watts))}</td>
      <td className="num wide-only">{(Number(cpu_ns) / NS_PER_S).toFixed(1)} s</td>
      <td className="num wide-only" title={pid === null ? undefined : `process ${pid}`}>
        {memory}
      </td>
      <td className="num wide-only">{restarts}</td>
      <td className="wide-only wrap-anywhere">{payerWord(payer)}</td>
    </tr>
  )
}

const payerWord = (payer: string): string =>
  payer === 'operator' ? 'the operator' : payer === 'caller' ? 'its callers' : payer
