// The versions that are kept; each that could be started can answer again.
import { useState, type ReactNode } from 'react'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { actions, Table, type Column } from '#console/parts/page/table.tsx'
import { canRollBack, stateOfVersion, type Version, type Versioned } from './versioned.ts'
import { When } from '#console/parts/time/when.tsx'

export function Versions<Kept extends Version>(props: {
  readonly one: Versioned<Kept>
  /** What it was made of: a file, an image. */
  readonly madeOf: (version: Kept) => ReactNode
  readonly columns: readonly Column<Kept>[]
  readonly rollBack: (version: number) => Promise<unknown>
  /** What a version has of its own, in words. */
  readonly own: string
}) {
  const { one, madeOf, columns, rollBack, own } = props
  const [chosen, setChosen] = useState<number>()
  const back = actions<Kept>((kept) =>
    canRollBack(one, kept) ? (
      <button
        type="button"
        className="btn small"
        aria-label={`Roll back to version ${kept.version}`}
        onClick={() => setChosen(kept.version)}
      >
        Roll back
      </button>
    ) : null,
  )
  return (
    <Section title="Versions" aside="the newest ten are kept">
      <Table
        rows={one.versions}
        keyOf={({ version }) => String(version)}
        columns={[...columnsOf(one, madeOf), ...columns, back]}
      />
      {chosen !== undefined && (
        <Confirm
          title={`Roll ${one.name} back to version ${chosen}`}
          verb="Roll it back"
          onClose={() => setChosen(undefined)}
          act={() => rollBack(chosen)}
        >
          Once version {chosen} is ready, it answers with its own {own}. Until then{' '}
          {one.live_version === null ? 'nothing answers' : `${one.live_version} does`}.
          {one.status === 'suspended' && one.reason === null && ` ${one.name} is resumed by this.`}
        </Confirm>
      )}
    </Section>
  )
}

const columnsOf = <Kept extends Version>(
  one: Versioned<Kept>,
  madeOf: (version: Kept) => ReactNode,
): readonly Column<Kept>[] => [
  {
    title: 'Version',
    className: 'wrap-anywhere',
    cell: (row) => (
      <>
        <b>{row.version}</b> <span className="id">{madeOf(row)}</span>
        <span className="under">{stateOfVersion(one, row).word}</span>
        {row.failure !== null && <span className="tiny reason">{row.failure}</span>}
      </>
    ),
  },
  {
    title: 'State',
    className: 'wide-only',
    cell: (row) => <StateWord {...stateOfVersion(one, row)} />,
  },
  { title: 'Deployed', className: 'wide-only', cell: ({ created_at }) => <When at={created_at} /> },
]
