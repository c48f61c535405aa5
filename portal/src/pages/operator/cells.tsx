// The cells: every process of the node, with what it uses.
import { bytesShort } from '#console/figures/amounts.ts'
import { power } from '#console/figures/energy.ts'
import { Section } from '#console/parts/page/section.tsx'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { Table, type Column } from '#console/parts/page/table.tsx'
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
  <Table rows={cells} keyOf={({ name }) => name} columns={COLUMNS} />
)

const memoryOf = ({ memory_bytes: bytes }: CellFacts): string =>
  bytes === null ? 'none' : bytesShort(BigInt(bytes))

const COLUMNS: readonly Column<CellFacts>[] = [
  {
    title: 'Cell',
    className: 'wrap-anywhere',
    cell: (cell) => (
      <>
        <b>{cell.name}</b>
        <span className="under">
          {memoryOf(cell)}, {cell.restarts} restarts
        </span>
      </>
    ),
  },
  { title: 'State', cell: (cell) => <StateWord {...cellState(cell)} /> },
  { title: 'Watts', className: 'num', cell: ({ watts }) => power(njPerS(watts)) },
  {
    title: 'CPU',
    className: 'num wide-only',
    cell: ({ cpu_ns }) => `${(Number(cpu_ns) / NS_PER_S).toFixed(1)} s`,
  },
  {
    title: 'Memory',
    className: 'num wide-only',
    cell: (cell) => (
      <span title={cell.pid === null ? undefined : `process ${cell.pid}`}>{memoryOf(cell)}</span>
    ),
  },
  { title: 'Restarts', className: 'num wide-only', cell: ({ restarts }) => restarts },
  {
    title: 'Paid by',
    className: 'wide-only wrap-anywhere',
    cell: ({ payer }) => payerWord(payer),
  },
]

const payerWord = (payer: string): string =>
  payer === 'operator' ? 'the operator' : payer === 'caller' ? 'its callers' : payer
